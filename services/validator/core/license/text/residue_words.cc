#include "services/validator/core/license/text/residue_words.h"

#include "absl/strings/str_split.h"

namespace kernelmill::validator {
namespace {

constexpr char kNeutralWords[] =
    "a an the this these that those of in to for and or by with from on at as its their his her "
    "your it any all each such said software program code source library package product work "
    "file files project author authors holder holders owner owners contributor contributors "
    "copyright copyrights documentation document documentations binary binaries form forms name "
    "names license licenses s herein hereby above below following notice notices materials "
    "material distribution distributions inc corporation company university regents foundation "
    "entity entities person persons i e g etc is are be been was were http www org com html "
    "htm php txt cgi disclaim disclaims nor";

constexpr char kPlainWords[] =
    // articles, pronouns, prepositions, conjunctions
    "a an the this these that those it its they them their there here he she his her we our us you "
    "your i me my who which what of in to for and or by with from on at as into onto "
    "over under about above below between among through since until during before after within "
    "along across per via than then also too both each every all any some many most more several "
    "various other others another same such own both so if when where how "
    // being and having
    "is are was were be been being has have had having do does did done "
    // works and people
    "software program programs code source sources library libraries package packages product "
    "products work works file files folder folders directory directories project projects "
    "repository repositories repo module modules component components tool tools kernel kernels "
    "author authors developer developers maintainer maintainers contributor contributors "
    "contribution contributions contributed team teams member members people person persons "
    "individual individuals community company companies corporation organization organizations "
    "university institute institution laboratory laboratories lab labs group groups department "
    "affiliate affiliates subsidiary subsidiaries employee employees holder holders owner owners "
    "regents trustees foundation entity entities user users reader readers version versions "
    "release releases revision date dates year years name names title titles list lists table "
    "contents index page pages section sections chapter appendix line lines part parts portion "
    "portions piece pieces history documentation documents document readme text texts copy "
    "comment comments header headers note notes homepage home website web site url link links "
    "email mail e address addresses phone fax contact contacts question questions issue issues "
    "bug bugs report reports feedback suggestion suggestions information info detail details "
    "upstream fork mirror origin original originally initial initially current currently "
    "initially first second third last early earlier late later recent new old latest next "
    "previous former formerly present "
    // politeness and attribution
    "please thank thanks thankful grateful acknowledge acknowledges acknowledged acknowledgment "
    "acknowledgments acknowledgement acknowledgements credit credits special kind kindly help "
    "helped helpful support supported supporting sponsor sponsored funding funded grateful "
    "welcome enjoy happy hope hopes hoped love peace write wrote written writing created creates "
    "creating creation made make makes making developed develop develops developing development "
    "designed design built build builds building implemented implementing implementation "
    "maintained maintaining started begun began ported port adapted based derived inspired "
    "borrowed taken merged imported integrated included includes include including contained "
    "contains contain containing consists comprises come comes coming described "
    "describes describe see read refer refers found find listed lists located hosted available "
    "added removed extracted copied incorporated covered automatically therefore itself together "
    "provide provides published publish founded known called "
    "mentioned stated noted indicated specified otherwise generated automatically "
    // the names of licences, and where their texts are
    "license licenses licensed licensing licence licences licenced relicensed copyright "
    "copyrights copyrighted notice notices statement full complete entire whole reproduced "
    "distributed released dual dually either mit expat x11 bsd apache isc zlib boost unlicense "
    "clause clauses 0 1 2 3 4 two three four simplified new revised modified style "
    "free open osi approved permissive common same different respective corresponding "
    "third party parties certain remainder ii iii iv vi vii viii ix separate root top level legal "
    "january february march april june july august september "
    "october november december spdx identifier filecopyrighttext type end begin start "
    // plain description
    "high performance fast small simple large efficient optimized modern easy flexible general "
    "purpose python c c++ cpp cuda triton gpu gpus cpu cpus linux windows macos java javascript "
    "rust go html json xml yaml unicode data algorithm algorithms function functions method "
    "methods class classes example examples test tests script scripts paper papers article book "
    "science computer numerical scientific mathematical math language languages compiler "
    "framework frameworks system systems network networks interface interfaces api "
    "block certificate certificates authority authorities present contributions time day days way "
    "place parts case cases number numbers following follows "
    "similar extended extends extension extensions dependency dependencies "
    "depends beyond standard parser modified note bundle holds versioning records wants further "
    "mark specific particular commit message change "
    "changes committed nor choose chosen apache2 tree headers one ones like well just very far "
    "long great better accompanying retain retains retained "
    "thus still remaining even however look beginning clarifies external patches pull requests etc "
    "subdirectories re material materials adaptive";

// Words with which a sentence can forbid, require or limit something. No name has one of them.
constexpr char kDecisiveWords[] =
    "not no non none nothing never neither without unless except excluding exclude excludes "
    "excluded only solely exclusively merely strictly must may might shall should would can "
    "cannot could ought dont don isn aren use uses used using usage utilize utilized "
    "utilise utilised exploit exploited train trained training trains pretrain pretraining "
    "finetune finetuning tuning inference llm llms dataset datasets corpus scrape scraped scraping "
    "crawl crawled crawling mining tdm opt optout prohibit prohibited prohibits prohibition forbid "
    "forbidden forbids ban banned bans disallow disallowed deny denied denies restrict restricted "
    "restricts restriction restrictions limit limits limitation permit permits "
    "permitted permission permissions allow allows allowed authorize authorized authorization "
    "authorisation consent approval agree agrees agreed agreement accept accepts "
    "accepting acceptance comply complies compliance condition conditions conditional clause "
    "clauses term terms apply applies applied applicable subject require requires required "
    "requirement requirements obtain obtained request pay payment fee fees royalty royalties "
    "charge commercial commercially noncommercial nonprofit profit sell selling sold sale academic "
    "educational evaluation internal personal private confidential proprietary secret military "
    "weapon weapons nuclear surveillance ethical ethics evil harm harmful illegal unlawful violate "
    "violates rights right revoke revoked revocable terminate terminates terminated expire expires "
    "expired void grants granted redistribute redistributed redistribution distribute "
    "distributed distribution modify modification modifications copy copied copying reproduce "
    "disclose disclosed disclosure reserve reserves licensee licensor hereby notwithstanding "
    "provided warrant purposes purpose countries country sanctions embargo additional rider "
    "addendum supplement supplemental amended amendment saas service tenant";

// Words of statements about licences. No name has one of them.
constexpr char kLegalWords[] =
    "license licenses licensed licensing licence licences licenced agreement terms conditions "
    "clause policy covenant pledge eula exception exceptions copyleft permission cc nc nd gpl "
    "gplv2 gplv3 lgpl agpl sspl mulan epl mpl eupl cddl";

// Words that a holder's name may have. A line that is only a name has none of them, since it may be
// the title of a licence.
constexpr char kCauseWords[] =
    "commons rail fair responsible notice domain ai ml human humans good research education";

// Plain words that sentences have and names do not.
constexpr char kSentenceWords[] =
    "is are was were be been being has have had do does i me my we our us you your he she they "
    "them "
    "their it its who which that before until after during since when where if than then";

// The beginnings of lines that go on with a name, an address or a date.
constexpr const char* kFrames[] = {
    "written by",
    "authored by",
    "author",
    "authors",
    "developed by",
    "created by",
    "maintained by",
    "maintainer",
    "maintainers",
    "contributed by",
    "contributor",
    "contributors",
    "designed by",
    "implemented by",
    "ported by",
    "ported to",
    "thanks to",
    "special thanks",
    "we thank",
    "contact",
    "e mail",
    "email",
    "homepage",
    "website",
    "project",
    "repository",
    "version",
    "file",
    "name",
    "title",
    "url",
    "source",
    "date",
    "adapted from",
    "based on",
    "derived from",
    "ported from",
    "originally by",
    "originally written by",
    "original author",
    "original authors",
    "copyright",
    "copyrights",
    "c",
    "portions copyright",
    "parts copyright",
    "portions c",
    "modifications copyright",
    "all modifications copyright",
    "with contributions by",
    "with contributions from",
    "is copyright",
    "is copyrighted by",
    "spdx filecopyrighttext",
    "upstream name",
    "upstream contact",
    "license for",
    "licence for",
    "the following license applies to",
    "all contributions by",
    "contributions by",
    "developed at",
    "maintained at",
    "port by",
    "typescript port",
    "port to",
};

// Phrases that are taken out of a line before it is judged: they are in most licence files, and
// grant or state what every licence does.
constexpr const char* kHarmlessPhrases[] = {
    "all rights reserved",
    "all right reserved",
    "unless otherwise noted",
    "unless otherwise stated",
    "unless otherwise specified",
    "unless otherwise indicated",
    "unless stated otherwise",
    "unless noted otherwise",
    "except where otherwise noted",
    "except where noted",
    "terms and conditions",
    "under the terms of",
    "under terms of",
    "terms of the",
    "this license applies to",
    "the following applies to",
    "is a trademark of",
    "is a registered trademark of",
    "you may obtain a copy of the license at",
    "you may find a copy",
    "you should have received a copy of",
    "can be found",
    "may be found",
    "at your option",
    "license information",
    "or any later version",
    "no copyright",
    "license applies to",
    "including the next paragraph",
    "used under",
    "if not see",
    "licenses apply to",
    "license governs",
    "full terms",
    "following terms",
    "same terms",
    "do not edit",
    "in the license file accompanying this file",
    "subject to separate licensing terms",
    "is a trademark",
    "is registered trademark of",
    "uses a copyright model",
    "is approved by the osi and fsf as gpl compatible",
    "you may use this software under either",
    "distributed under the terms of",
    "should indicate their copyright solely in the commit message",
    "public domain",
    "choose whichever you prefer",
    "except when otherwise stated",
    "with exceptions noted below",
    "use modification and distribution are subject to the",
    "use modification and distribution is subject to the",
};

constexpr ExceptionText kExceptionTexts[] = {
    {"LLVM-exception",
     "LLVM Exceptions to the Apache 2.0 License. As an exception, if, as a result of your "
     "compiling "
     "your source code, portions of this Software are embedded into an Object form of such source "
     "code, you may redistribute such embedded portions in such Object form without complying with "
     "the conditions of Sections 4(a), 4(b) and 4(d) of the License. In addition, if you combine "
     "or "
     "link compiled forms of this Software with software that is licensed under the GPLv2 "
     "(\"Combined Software\") and if a court of competent jurisdiction determines that the patent "
     "provision (Section 3), the indemnity provision (Section 9) or other Section of the License "
     "conflicts with the conditions of the GPLv2, you may retroactively and prospectively choose "
     "to "
     "deem waived or otherwise exclude such Section(s) of the License, but only in their entirety "
     "and only with respect to the Combined Software."},
    {"fmt-exception",
     "Optional exception to the license. As an exception, if, as a result of your compiling your "
     "source code, portions of this Software are embedded into a machine-executable object form of "
     "such source code, you may redistribute such embedded portions in such object form without "
     "including the above copyright and permission notices."},
};

// Licences whose sentences may be beside any other: each grants, disclaims or asks for notices.
constexpr const char* kPermissive[] = {
    "MIT",   "ISC",  "BSD-2-Clause", "BSD-3-Clause",      "0BSD", "Zlib", "NCSA", "BSL-1.0", "X11",
    "MIT-0", "HPND", "Unlicense",    "BSD-2-Clause-Views"};

constexpr const char* kKnownNotices[] = {
    "Licensed to the Apache Software Foundation (ASF) under one or more contributor license "
    "agreements. See the NOTICE file distributed with this work for additional information "
    "regarding copyright ownership. The ASF licenses this file to you under the Apache License, "
    "Version 2.0 (the \"License\"); you may not use this file except in compliance with the "
    "License. You may obtain a copy of the License at",
    "Code generated by the Protocol Buffer compiler is owned by the owner of the input file used "
    "when generating it. This code is not standalone and requires a support library to be linked "
    "with it. This support library is itself covered by the above license.",
    ("For additional information about the PCG random number generation scheme, including its "
     "license and other licensing options, visit"),
};

}  // namespace

WordSet MakeSet(absl::string_view words) {
  WordSet set;
  for (const absl::string_view word : absl::StrSplit(words, ' ', absl::SkipEmpty()))
    set.insert(word);
  return set;
}

const WordSet& LegalWords() {
  static const auto* const set = new WordSet(MakeSet(kLegalWords));
  return *set;
}

const WordSet& CauseWords() {
  static const auto* const set = new WordSet(MakeSet(kCauseWords));
  return *set;
}

const WordSet& SentenceWords() {
  static const auto* const set = new WordSet(MakeSet(kSentenceWords));
  return *set;
}

const WordSet& NeutralWords() {
  static const auto* const set = new WordSet(MakeSet(kNeutralWords));
  return *set;
}

const WordSet& PlainWords() {
  static const auto* const set = new WordSet(MakeSet(kPlainWords));
  return *set;
}

const WordSet& DecisiveWords() {
  static const auto* const set = new WordSet(MakeSet(kDecisiveWords));
  return *set;
}

absl::Span<const char* const> NameFrames() { return kFrames; }
absl::Span<const char* const> HarmlessPhrases() { return kHarmlessPhrases; }
absl::Span<const ExceptionText> ExceptionTexts() { return kExceptionTexts; }
absl::Span<const char* const> PermissiveLicenses() { return kPermissive; }
absl::Span<const char* const> KnownNotices() { return kKnownNotices; }

}  // namespace kernelmill::validator
