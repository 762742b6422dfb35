// SPDX-License-Identifier: Apache-2.0
// Runs spoilt media files through the native stages. Built with VERAVOX_SANITIZE by scripts/fuzz.mjs.
//
// veravox_mutation_fuzzer [--count N] [--seed S] [--deadline-ms D] [--only I [--write FILE]] FILE... Input I
// depends on the files, S and I alone, so that --only repeats it. Exits with 0 if every input decoded or
// ended with a StageError in time.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "decode/decoder.h"
#include "mutator.h"
#include "prepare/preparer.h"
#include "range_readers.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace veravox::test {
namespace {

using Bytes = Mutator::Bytes;
using Clock = StopSignal::Clock;

// Margin above the deadline, for libav's work between two checks.
constexpr std::chrono::milliseconds kGrace{1000};
// Limit for an input that does not end by itself.
constexpr unsigned kHangSeconds = 60;
// Exceptions leave frames in AddressSanitizer's table of the thread, and calls search a full table for
// milliseconds.
constexpr uint64_t kInputsPerThread = 1000;

struct Options {
  uint64_t count = 20000;
  uint64_t seed = 1;
  int64_t only = -1;
  std::string write_to;
  std::chrono::milliseconds deadline{2000};
  std::vector<std::string> files;
};

void ExpectFinite(std::span<const float> values, const char* what) {
  for (const float value : values) {
    if (!std::isfinite(value)) throw std::logic_error(std::string(what) + " that is no number");
  }
}

// Runs a file through the native stages. Throws StageError for bad input; any other exception is a finding.
// All inputs share the stages after the decoder, as in the server: no part of a bad file may affect the next
// one.
void RunOneInput(std::span<const uint8_t> input, const StopSignal& stop) {
  Decoder decoder(input, DecodeOptions{}, stop);
  for (MonoBlock block; decoder.Next(block);) {
    if (block.samples.empty() || block.sample_rate_hz <= 0) throw std::logic_error("an empty block");
    ExpectFinite(block.samples, "a sample");
  }

  static Preparer preparer(ModelInputSpec{});
  static std::vector<float> output(preparer.input_size());
  // The seed files are shorter than the server's minimum.
  PrepareOptions options{.min_duration_s = 0.05, .silence_threshold_percent = 100.0};
  if (input.size() % 3 == 0) {
    options.decode.region = {0.1, 0.4};
    options.decode.channel = 1;
  }
  // Reads every second input in ranges, like long recordings.
  SpanReader reader(input);
  RangedSource ranges(reader, input.size(), stop, kSmallBlocks);
  if (input.size() % 2 == 0) {
    preparer.Open(input, options, stop);
  } else {
    preparer.Open(ranges, options, stop);
  }
  for (PreparedInput prepared; preparer.Next(output, prepared);) ExpectFinite(output, "a feature");
  preparer.Close();
}

std::atomic<uint64_t> current_input{0};

void SayWhichInput() {
  char text[64];
  const int length = std::snprintf(text, sizeof text, "\nThat was input %llu.\n",
                                   static_cast<unsigned long long>(current_input.load()));
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, static_cast<size_t>(length));
}

void OnFatalSignal(int signal) {
  SayWhichInput();
  _exit(128 + signal);
}

void ReportDeaths() {
  std::signal(SIGALRM, OnFatalSignal);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback(SayWhichInput);
#else
  for (const int fatal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(fatal, OnFatalSignal);
#endif
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (argument == "--count") {
      options.count = std::stoull(value());
    } else if (argument == "--seed") {
      options.seed = std::stoull(value());
    } else if (argument == "--deadline-ms") {
      options.deadline = std::chrono::milliseconds(std::stoll(value()));
    } else if (argument == "--only") {
      options.only = std::stoll(value());
    } else if (argument == "--write") {
      options.write_to = value();
    } else {
      options.files.push_back(argument);
    }
  }
  if (options.files.empty()) throw std::runtime_error("name at least one media file");
  return options;
}

std::vector<Bytes> ReadFiles(const std::vector<std::string>& paths) {
  std::vector<Bytes> files;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (files.back().empty()) throw std::runtime_error(path + " is empty");
  }
  return files;
}

// Processor time of this thread: on a busy machine, wall time passes without work.
std::chrono::nanoseconds CpuTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

struct Report {
  std::map<std::string, uint64_t> outcomes;
  std::chrono::duration<double, std::milli> slowest{0};
  uint64_t slowest_input = 0;
  uint64_t findings = 0;
};

void RunInput(uint64_t index, const Bytes& input, const Options& options, Report& report) {
  current_input = index;
  alarm(kHangSeconds);
  const auto start = CpuTime();
  std::string outcome = "decoded";
  try {
    const StopSignal stop(nullptr, Clock::now() + options.deadline);
    RunOneInput(input, stop);
  } catch (const StageError& error) {
    outcome = ErrorCodeName(error.code());
  } catch (const std::exception& error) {
    outcome = "FINDING";
    std::fprintf(stderr, "input %llu: %s\n", static_cast<unsigned long long>(index), error.what());
  }
  const auto elapsed = CpuTime() - start;
  alarm(0);
  if (elapsed > options.deadline + kGrace) {
    std::fprintf(stderr, "input %llu ran past its deadline\n", static_cast<unsigned long long>(index));
    outcome = "FINDING";
  }
  // A refused allocation is either our limit on single allocations or a real fault worth a look.
  if (outcome == "FINDING" || outcome == ErrorCodeName(ErrorCode::kInternal)) ++report.findings;
  ++report.outcomes[outcome];
  if (elapsed > report.slowest) {
    report.slowest = elapsed;
    report.slowest_input = index;
  }
}

int Main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  const std::vector<Bytes> originals = ReadFiles(options.files);
  ReportDeaths();

  Report report;
  const bool single = options.only >= 0;
  const uint64_t first = single ? static_cast<uint64_t>(options.only) : 0;
  const uint64_t end = single ? first + 1 : options.count;
  const auto run_input = [&](uint64_t index) {
    Bytes input = Mutator(originals, options.seed * 1'000'000'007 + index).Next();
    input.shrink_to_fit();  // so that AddressSanitizer catches reads past the end
    if (single && !options.write_to.empty()) {
      std::ofstream(options.write_to, std::ios::binary)
          .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
    }
    RunInput(index, input, options, report);
  };
  for (uint64_t from = first; from < end; from += kInputsPerThread) {
    std::thread([&] {
      for (uint64_t index = from; index < std::min(from + kInputsPerThread, end); ++index) run_input(index);
    }).join();
  }

  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%llu inputs from %zu files, seed %llu\n", static_cast<unsigned long long>(end - first),
              originals.size(), static_cast<unsigned long long>(options.seed));
  for (const auto& [outcome, count] : report.outcomes) {
    std::printf("  %-24s %llu\n", outcome.c_str(), static_cast<unsigned long long>(count));
  }
  std::printf("slowest: %.1f ms (input %llu); peak memory: %ld MiB; findings: %llu\n", report.slowest.count(),
              static_cast<unsigned long long>(report.slowest_input), usage.ru_maxrss / 1024,
              static_cast<unsigned long long>(report.findings));
  return report.findings == 0 ? 0 : 1;
}

}  // namespace
}  // namespace veravox::test

int main(int argc, char** argv) {
  try {
    return veravox::test::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
