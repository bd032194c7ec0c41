#include "attend/text/byte_words.h"

#include <unicode/uchar.h>

namespace attend {

ByteWordClass byte_word_class(char32_t c) {
  const uint32_t kind = U_GET_GC_MASK(static_cast<UChar32>(c));
  if ((kind & U_GC_L_MASK) != 0) return ByteWordClass::kLetter;
  if ((kind & U_GC_N_MASK) != 0) return ByteWordClass::kNumber;
  const bool space = u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_WHITE_SPACE) != 0;
  return space ? ByteWordClass::kSpace : ByteWordClass::kOther;
}

}  // namespace attend
