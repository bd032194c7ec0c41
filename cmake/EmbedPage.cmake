# cmake -D ROOT=web -D ESBUILD=esbuild -D OUTPUT=page.cpp -P EmbedPage.cmake
# Puts the modules and the style of a page into its HTML, and that into a source file that defines what
# attend/serve/page.h declares: the page starts with one request.
function(bundled result file)
  execute_process(COMMAND ${ESBUILD} ${ROOT}/${file} --bundle --minify --charset=utf8 --format=esm
    --log-level=warning OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

bundled(script main.js)
bundled(style style.css)
file(READ ${ROOT}/index.html page)
string(REPLACE "<link rel=\"stylesheet\" href=\"style.css\">" "<style>${style}</style>" page "${page}")
string(REPLACE "<script type=\"module\" src=\"main.js\"></script>"
  "<script type=\"module\">${script}</script>" page "${page}")
file(WRITE ${OUTPUT}.html "${page}")
file(READ ${OUTPUT}.html bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"attend/serve/page.h\"

namespace attend {
namespace {

constexpr char kPage[] = {${bytes}'\\0'};

}  // namespace

std::string_view explorer_page() { return {kPage, sizeof kPage - 1}; }

}  // namespace attend
")
