# literal(VARIABLE FILE): sets "{STRING LITERAL, SIZE}" of the file's bytes, all of them escaped.
function(literal variable file)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "(........................................)" "\\1\"\n    \"" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" hex "${hex}")
  file(SIZE "${file}" size)
  set(${variable} "{\n    \"${hex}\",\n    ${size}}" PARENT_SCOPE)
endfunction()
