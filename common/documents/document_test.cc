#include "common/documents/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/documents/prose_context.h"

namespace kernelmill::documents {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kLanguages[] = "pcu-";  // by BlockLanguage

// "LANGUAGE KIND TEXT" of every block.
std::vector<std::string> Blocks(absl::string_view path, absl::string_view content) {
  const Document document = ReadDocument(path, content);
  std::vector<std::string> found;
  for (const CodeBlock& block : document.blocks) {
    const char language = kLanguages[static_cast<int>(block.language)];
    found.push_back(absl::StrCat(std::string(1, language), " ", block.kind, " ",
                                 document.text.substr(block.begin, block.end - block.begin)));
  }
  return found;
}

// "HEADING|PARAGRAPH" of every block.
std::vector<std::string> Contexts(absl::string_view path, absl::string_view content) {
  std::vector<std::string> found;
  for (const CodeBlock& block : ReadDocument(path, content).blocks) {
    found.push_back(absl::StrCat(block.heading, "|", block.paragraph));
  }
  return found;
}

std::vector<std::string> Markdown(absl::string_view content) { return Blocks("a.md", content); }

TEST(DocumentTest, BlocksAreOfTheLanguageThatTheirFenceNames) {
  EXPECT_THAT(Markdown("```python\na\n```\nb\n~~~Cuda x\nc\n~~~\n```\nd\n```\n```sh\ne\n```"),
              ElementsAre("p fence a\n", "c fence c\n", "u fence d\n", "- fence e\n"));
}

TEST(DocumentTest, AFenceMayHaveAttributes) {
  for (const char* info :
       {"{python}", "{.python}", "{.python .numberLines}", "python title=\"x\"",
        "{python, echo=FALSE}", "{code-cell} ipython3", "{code-cell}python", "{code-block} python",
        "python3", "python:x.py", "py", "ipython3", "Python {1,2}", "triton", "python=", "pycon"}) {
    EXPECT_THAT(Markdown(absl::StrCat("```", info, "\na\n```\n")), ElementsAre("p fence a\n"))
        << info;
  }
  for (const char* info :
       {"cuda", "{.cuda}", "cpp", "c++", "cuda-cpp", "cu", "hip", "C++ {title=\"x\"}"}) {
    EXPECT_THAT(Markdown(absl::StrCat("```", info, "\na\n```\n")), ElementsAre("c fence a\n"))
        << info;
  }
  for (const char* info : {"", "{title=\"x\"}"}) {
    EXPECT_THAT(Markdown(absl::StrCat("```", info, "\na\n```\n")), ElementsAre("u fence a\n"))
        << info;
  }
  EXPECT_THAT(Markdown("```{literalinclude} a.py\n:lines: 1\n```\n"), IsEmpty());
}

TEST(DocumentTest, ABlockIsClosedByItsOwnFenceOrTheEnd) {
  EXPECT_THAT(Markdown("````py\n```\n~~~\n````x\n````\n"),
              ElementsAre("p fence ```\n~~~\n````x\n"));
  EXPECT_THAT(Markdown("  ```py\r\n  a"), ElementsAre("p fence   a"));
  EXPECT_THAT(Markdown("``` a`b\n``\n x ```py\n"), IsEmpty());
}

TEST(DocumentTest, FencesMayBeInListsAndQuotes) {
  EXPECT_THAT(Markdown("1. Do\n\n   ```py\n   a\n   ```\n- ```py\n  b\n  ```\n"),
              ElementsAre("p fence    a\n", "p fence   b\n"));
  EXPECT_THAT(Markdown("> ```py\n> a\n>  b\n> ```\nc\n> > ~~~py\n> > d\n> > ~~~\n"),
              ElementsAre("p fence   a\n   b\n", "p fence     d\n"));
  // A quote that ends takes its fence along.
  EXPECT_THAT(Markdown("> ```py\n> a\n\n```cu\nb\n```\n"),
              ElementsAre("p fence   a\n", "c fence b\n"));
  // Within a fence ">" is code.
  EXPECT_THAT(Markdown("```py\n> a\n```\n"), ElementsAre("p fence > a\n"));
}

TEST(DocumentTest, OptionsOfABlockAreNoCode) {
  EXPECT_THAT(Markdown("```{code-cell} python\n:tags: [x]\n:id: 1\na\n```\n"),
              ElementsAre("p fence a\n"));
  EXPECT_THAT(Markdown("```{code-cell} python\n---\ntags: [x]\n---\na\n```\n"),
              ElementsAre("p fence a\n"));
}

TEST(DocumentTest, PromptsBecomeBlanksAndOutputsGo) {
  EXPECT_THAT(Markdown("```pycon\n>>> def f():\n...     pass\n...\n1\n>>> f()\n```\n"),
              ElementsAre("p fence     def f():\n        pass\n   \n \n    f()\n"));
}

TEST(DocumentTest, LinesOfMarkdownAreTheFiles) {
  const std::string text = "# T\n> ```py\n> a\n> ```\r\n```py\nb\n```\n";
  EXPECT_THAT(ReadDocument("a.md", text).text, SizeIs(text.size()));
}

TEST(DocumentTest, TheHeadingAndTheParagraphAboveABlockAreItsContext) {
  EXPECT_THAT(Contexts("a.md",
                       "# One #\nx\n\nA long\nline.\n\n```py\na\n```\n```py\nb\n```\nTwo\n---\n\n"
                       "```py\nc\n```\nLast.\n```py\nd\n```\n"),
              ElementsAre("One|A long line.", "One|", "Two|", "Two|Last."));
}

TEST(DocumentTest, ImagesAreNoContext) {
  EXPECT_THAT(Contexts("a.md", "Text.\n\n![x](data:image/png;base64,AAAA)\n```py\na\n```\n"),
              ElementsAre("|Text."));
  EXPECT_THAT(Contexts("a.md", "<img src=\"x.png\">\n```py\na\n```\n"), ElementsAre("|"));
}

TEST(DocumentTest, LongContextsAreCutAtACharacter) {
  std::string paragraph;
  while (paragraph.size() < ProseContext::kMaxParagraph + 9) paragraph += "\xc3\xa9";
  const std::vector<std::string> contexts =
      Contexts("a.md", absl::StrCat("x", paragraph, "\n```py\na\n```\n"));
  EXPECT_EQ(contexts[0], absl::StrCat("|x", paragraph.substr(0, ProseContext::kMaxParagraph - 2)));
}

TEST(DocumentTest, DirectivesOfReStructuredTextAreBlocks) {
  EXPECT_THAT(
      Blocks("a.rst",
             "T\n=\n\n.. code-block:: cuda\n   :linenos:\n\n   a\n\n     b\n\nx\n.. code:: "
             "python\n\n  c\n"
             ".. literalinclude:: x.py\n   :lines: 1\n\nSo::\n\n    d\n\n>>> e\n1\n\nend\n"),
      ElementsAre("c directive    a\n\n     b\n", "p directive   c\n", "u literal \n    d\n",
                  "p doctest     e\n \n"));
}

TEST(DocumentTest, OtherDirectivesWithCodeAreBlocks) {
  EXPECT_THAT(Blocks("a.rst",
                     ".. parsed-literal::\n\n  a\n\n.. ipython:: python\n\n  b\n\n.. tabs::\n\n"
                     "  .. code-tab:: cuda Title\n\n    c\n"),
              ElementsAre("u directive   a\n", "p directive   b\n", "c directive     c\n"));
}

TEST(DocumentTest, IndentedCodeOfMarkdownIsABlock) {
  EXPECT_THAT(
      Markdown("So:\n\n    a\n\n      b\n\n\nx\n    no\n```py\nc\n\n    d\n```\n\te\n"),
      ElementsAre("u indented     a\n\n      b\n", "p fence c\n\n    d\n", "u indented \te\n"));
  EXPECT_THAT(Contexts("a.md", "# T\nSo:\n\n    a\n"), ElementsAre("T|So:"));
}

TEST(DocumentTest, HeadingsOfReStructuredTextAreUnderlined) {
  EXPECT_THAT(Contexts("a.rst", "Title\n~~~~~\nText.\n\n.. code-block:: cuda\n\n   a\n"),
              ElementsAre("Title|Text."));
}

TEST(DocumentTest, PreOfHtmlIsDecodedOnItsOwnLines) {
  const std::string html =
      "<h2 id=x>A &amp; <em>B</em></h2>\n<p>Look\nhere.</p>\n"
      "<pre class=\"x\"><code class='language-python'>a &lt; b &#38;&#x26; c\n"
      "<span class=\"k\">def</span> f(x):</code></pre> tail\n<p>x</p>\n"
      "<div class=\"highlight-cuda notranslate\"><div "
      "class=\"highlight\"><pre><span></span>f&lt;&lt;&lt;1&gt;&gt;&gt;();\n"
      "#include <cuda.h>\n</pre></div></div>\n<pre>c</pre><pre>d</pre>\n";
  EXPECT_THAT(Blocks("a.html", html),
              ElementsAre("p pre a < b && c\ndef f(x):", "c pre f<<<1>>>();\n#include <cuda.h>\n",
                          "u pre c"));
  EXPECT_EQ(ReadDocument("a.html", html).text,
            "\n\n\na < b && c\ndef f(x):\n\nf<<<1>>>();\n#include <cuda.h>\n\nc\n");
  EXPECT_THAT(Contexts("a.html", html), ElementsAre("A & B|Look here.", "A & B|x", "A & B|"));
}

TEST(DocumentTest, NumbersOfLinesAreNoBlock) {
  EXPECT_THAT(Blocks("a.html",
                     "<table><tr><td><pre>1\n2</pre></td><td class=x><pre>a\nb\n</pre></td></tr>\n"
                     "<tr><td><pre> 3 </pre></td><td><pre>c</pre>\n"),
              ElementsAre("u pre a\nb\n", "u pre c"));
}

TEST(DocumentTest, TagsThatNeverEndCostLinearTime) {
  std::string html = "<pre>";
  for (int i = 0; i < 200'000; ++i) html += "<a ";
  EXPECT_THAT(Blocks("a.html", html), SizeIs(1));
}

std::string Cell(absl::string_view type, absl::string_view source) {
  return absl::StrCat("{\"cell_type\": \"", type, "\", \"source\": ", source, "}");
}
std::string Notebook(absl::string_view cells) {
  return absl::StrCat("{\"cells\": [", cells, "], \"nbformat\": 4}");
}

TEST(NotebookTest, ACellIsAStringOrAListOfStrings) {
  const std::string text =
      Notebook(Cell("code", "[\"a\\n\", \"b\"]") + ", " + Cell("code", "\"c\\n\""));
  const Document document = ReadDocument("a.ipynb", text);
  EXPECT_EQ(document.text, "a\nb\nc\n");
  ASSERT_THAT(document.cells, SizeIs(2));
  EXPECT_EQ(document.cells[0].pointer, "/cells/0/source");
  EXPECT_EQ(GetCellText(document, document.cells[0]), "a\nb");
  EXPECT_EQ(text.substr(document.cells[1].begin, 3), "c\\n");
  EXPECT_THAT(Blocks("a.ipynb", text), ElementsAre("p cell a\nb", "p cell c\n"));
}

TEST(NotebookTest, Format3HasWorksheetsAndInputs) {
  const std::string text =
      "{\"worksheets\": [{\"cells\": [{\"cell_type\": \"heading\", \"source\": [\"H\"]},"
      "{\"cell_type\": \"code\", \"input\": [\"a\"], \"language\": \"python\"}]}], \"nbformat\": "
      "3}";
  EXPECT_THAT(Blocks("a.ipynb", text), ElementsAre("p cell a"));
  EXPECT_THAT(Contexts("a.ipynb", text), ElementsAre("H|"));
  EXPECT_EQ(ReadDocument("a.ipynb", text).cells[1].pointer, "/worksheets/0/cells/1/input");
}

TEST(NotebookTest, ACellsTypeMayComeAfterItsText) {
  EXPECT_THAT(Blocks("a.ipynb", "{\"cells\": [{\"source\": \"a\", \"cell_type\": \"code\"}]}"),
              ElementsAre("p cell a"));
}

TEST(NotebookTest, OutputsAreNotRead) {
  const std::string text =
      "{\"cells\": [{\"cell_type\": \"code\", \"outputs\": [{\"text\": [\"b\"], \"data\": "
      "{\"source\": \"c\", "
      "\"image/png\": \"AAAA\"}}], \"source\": \"a\", \"metadata\": {\"source\": \"d\"}}]}";
  EXPECT_EQ(ReadDocument("a.ipynb", text).text, "a\n");
}

TEST(NotebookTest, ACellMagicSaysTheLanguage) {
  const auto cell = [](absl::string_view first) {
    return Blocks("a.ipynb", Notebook(Cell("code", absl::StrCat("\"", first, "\\na\""))));
  };
  for (const char* magic :
       {"%%cu", "%%cuda", "%%cuda --name x.cu", "%%writefile x.cu", "%%writefile -a src/x.cuh",
        "%%writefile 'x y.cu'", "%%nvcc", "%%load_inline", "%load_inline -n x", "%%cuda_group_run",
        "%%cpp", "\\n %%cu", "#@title X\\n\\n%%cu"}) {
    EXPECT_THAT(cell(magic), ElementsAre("c cell a")) << magic;
  }
  for (const char* magic : {"%%time", "%%timeit -n 1", "%%capture", "%%writefile x.py",
                            "%%writefile 'x.py'", "%%python"}) {
    EXPECT_THAT(cell(magic), ElementsAre("p cell a")) << magic;
  }
  for (const char* magic : {"%%bash", "%%html", "%%writefile x.txt", "%%writefile Makefile"}) {
    EXPECT_THAT(cell(magic), ElementsAre("- cell a")) << magic;
  }
  EXPECT_THAT(cell("%%ours"), ElementsAre("u cell a"));
}

TEST(NotebookTest, ANotebookOfAnotherLanguageHasNoPython) {
  const std::string cells = Cell("code", "\"a\"");
  const auto notebook = [&](absl::string_view language) {
    return Blocks("a.ipynb", absl::StrCat("{\"cells\": [", cells,
                                          "], \"metadata\": {\"kernelspec\": {\"language\": \"",
                                          language, "\"}}}"));
  };
  EXPECT_THAT(notebook("julia"), ElementsAre("- cell a"));
  EXPECT_THAT(notebook("C++"), ElementsAre("c cell a"));
  EXPECT_THAT(notebook("python"), ElementsAre("p cell a"));
}

TEST(NotebookTest, MarkdownCellsHaveFencesAndContext) {
  const std::string text = Notebook(
      Cell("markdown", "[\"# T\\n\", \"One.\\n\", \"```py\\n\", \"a\\n\", \"```\\n\", \"Two.\"]") +
      "," + Cell("code", "\"b\"") + "," + Cell("code", "\"c\"") + "," + Cell("raw", "\"d\""));
  EXPECT_THAT(Blocks("a.ipynb", text), ElementsAre("p fence a\n", "p cell b", "p cell c"));
  EXPECT_THAT(Contexts("a.ipynb", text), ElementsAre("T|One.", "T|Two.", "T|"));
}

TEST(NotebookTest, BrokenJsonIsReadUpToTheError) {
  const Document document =
      ReadDocument("a.ipynb", "{\"cells\": [" + Cell("code", "\"a\"") + ", {");
  EXPECT_EQ(document.error, "json_truncated");
  EXPECT_THAT(document.blocks, SizeIs(1));
  EXPECT_THAT(ReadDocument("a.ipynb", std::string(1000, '[')).blocks, IsEmpty());
  EXPECT_THAT(ReadDocument("a.ipynb", "\xff\xfe").blocks, IsEmpty());
}

}  // namespace
}  // namespace kernelmill::documents
