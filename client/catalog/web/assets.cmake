# cmake -DFOLDER=... -DTEMPLATE=... -DOUT=... -P assets.cmake: the bundled files as C++.

# literal(VARIABLE FILE): a file's bytes as a string literal; no byte of it can end that.
function(literal variable file)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "(........................................)" "\\1\"\n    \"" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" hex "${hex}")
  set(${variable} "{\n    \"${hex}\",\n    SIZE}" PARENT_SCOPE)
  file(SIZE "${file}" size)
  set(${variable}_size ${size} PARENT_SCOPE)
endfunction()

set(entries "")
foreach(name app.js icon.svg kernel.js site.css)
  literal(text "${FOLDER}/${name}")
  string(REPLACE "SIZE" "${text_size}" text "${text}")
  string(APPEND entries "    Asset{\"${name}\", absl::string_view${text}},\n")
endforeach()
literal(text "${TEMPLATE}")
string(REPLACE "SIZE" "${text_size}" text "${text}")

file(WRITE "${OUT}" "// Made by assets.cmake.
#include \"client/catalog/web/assets.h\"

namespace kernelmill::client {

const std::array<Asset, 4> kAssets = {{
${entries}}};

const absl::string_view kIndexTemplate${text};

}  // namespace kernelmill::client
")
