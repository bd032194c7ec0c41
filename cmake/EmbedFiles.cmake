# cmake -D ROOT=DIR -D OUTPUT=FILE -P EmbedFiles.cmake
# Writes a source file that holds every file of ROOT; attend/serve/assets.h declares what it defines.
file(GLOB files ${ROOT}/*.html ${ROOT}/*.css ${ROOT}/*.js ${ROOT}/*.svg)
set(arrays "")
set(table "")
set(number 0)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char kFile${number}[] = {${bytes}'\\0'};  // ${name}\n")
  string(APPEND table "    {\"/${name}\", {kFile${number}, sizeof kFile${number} - 1}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"attend/serve/assets.h\"

namespace attend {
namespace {

${arrays}
constexpr Asset kAssets[] = {
${table}};

}  // namespace

std::span<const Asset> assets() { return kAssets; }

}  // namespace attend
")
