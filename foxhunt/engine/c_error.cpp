#include "foxhunt/engine/c_error.h"

#include <algorithm>
#include <exception>
#include <new>

#include "foxhunt/base/error.h"
#include "foxhunt/engine/foxhunt.h"

namespace foxhunt::engine {
namespace {

// Of a fixed size, so that a failure for want of memory has a text, too.
thread_local char last_error[2048] = "";

}  // namespace

std::int32_t c_fail(std::int32_t code, std::string_view text) noexcept {
  const std::size_t n = std::min(text.size(), sizeof last_error - 1);
  std::memcpy(last_error, text.data(), n);
  last_error[n] = '\0';
  return code;
}

std::int32_t c_fail_caught() noexcept {
  try {
    throw;
  } catch (const FormatError& error) {
    return c_fail(FOXHUNT_E_FORMAT, error.what());
  } catch (const IoError& error) {
    return c_fail(FOXHUNT_E_IO, error.what());
  } catch (const UsageError& error) {
    return c_fail(FOXHUNT_E_ARGUMENT, error.what());
  } catch (const ConfigError& error) {
    return c_fail(FOXHUNT_E_CONFIG, error.what());
  } catch (const std::bad_alloc&) {
    return c_fail(FOXHUNT_E_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return c_fail(FOXHUNT_E_INTERNAL, error.what());
  } catch (...) {
    return c_fail(FOXHUNT_E_INTERNAL, "an exception that is none of std's");
  }
}

const char* c_last_error() noexcept { return last_error; }

}  // namespace foxhunt::engine
