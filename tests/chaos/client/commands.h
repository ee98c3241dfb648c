#ifndef KERNELMILL_TESTS_CHAOS_CLIENT_COMMANDS_H_
#define KERNELMILL_TESTS_CHAOS_CLIENT_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The gRPC calls of tests/chaos that no real program makes. Every command takes its words from the
// command line, writes lines for the tests, and returns the exit status.
namespace kernelmill::chaos {

using Words = std::vector<std::string>;

// Makes incompressible bytes, which are a function of the arguments.
std::string MakeBlob(uint64_t seed, uint64_t index, size_t size);

// health ADDRESS SERVICE: writes SERVING, NOT_SERVING or UNREACHABLE. SERVICE "": the server
// itself.
int Health(const Words& words);
// put STORE SEED COUNT BYTES: uploads blobs of MakeBlob, each until it is stored. Writes its digest
// after each acknowledgement.
int Put(const Words& words);
// check STORE SEED COUNT BYTES: reads the same blobs, as streams and in batches. Writes "digest
// status" for each; WRONG means OK with different bytes.
int Check(const Words& words);
// missing STORE SEED COUNT BYTES: asks whether the same blobs are missing. Writes "digest MISSING"
// or "digest FOUND" for each.
int Missing(const Words& words);
// hostile STORE COORDINATOR: sends invalid requests. Writes "case<TAB>code" for each.
int Hostile(const Words& words);
// stall STORE STREAMS: opens uploads that stop after their first piece, and reads without reading.
// Writes "stalled" when all are open, and keeps them open until its standard input ends.
int Stall(const Words& words);
// storm ADDRESS COUNT AT_ONCE KIND A B: makes COUNT equal calls, AT_ONCE at a time. KIND A B is one
// of: submits SOURCES BYTES (for each source), leases STAGE WAIT_MS, extracts BYTES FILES, watches
// JOB 0; and of any METHOD: bombs METHOD MIB (compressed zeros), grains METHOD MIB (empty
// messages), names METHOD BYTES (one string). Writes "begun" after the first calls, then
// "CODE<TAB>message" for each answer. KERNELMILL_TLS_CA, _CERT and _KEY identify the caller.
int Storm(const Words& words);
// guess COORDINATOR TASK TOKENS: sends an error for the task with each token from 1 on. Writes
// "CODE<TAB>answers".
int Guess(const Words& words);
// work-proxy LISTEN COORDINATOR SEED: relays calls between workers and their coordinator until
// SIGTERM. It makes completions time out after they were taken, arrive twice, late, out of order
// and with forged tokens. Writes its actions, and "violation: ..." for every wrong answer; exits 1
// if any.
int WorkProxy(const Words& words);
// forge LISTEN COORDINATOR STORE WHAT WORD...: relays calls between workers and their coordinator
// until SIGTERM, and falsifies results. Writes "forged STAGE CODE" with the coordinator's answer to
// each.
//   pin URL COMMIT   replaces the pinned repository
//   source TEXT      the first kernel of each extracted shard gets this text, and its hash
//   hash TEXT        the first kernel of each linked shard gets the hash of this text
//   manifest TEXT    the dataset's first kernel gets this text, and its hash
int Forge(const Words& words);

}  // namespace kernelmill::chaos

#endif  // KERNELMILL_TESTS_CHAOS_CLIENT_COMMANDS_H_
