// What is counted and does not end a launch, and its JSON.
#pragma once

#include "state.hpp"

#include <cstdio>

namespace {

void count_warning(const std::string &text, const char *file, int line)
{
    std::lock_guard lock(g_mutex);
    auto [at, fresh] = warnings().try_emplace({text, file, line}, Warning{text, file, line, 0});
    at->second.count++;
}

std::string json_string(const std::string &text)
{
    std::string out = "\"";
    for (unsigned char c : text) {
        char buffer[8];
        if (c == '"' || c == '\\') {
            out += '\\';
            out += static_cast<char>(c);
        } else if (c < 0x20) {
            std::snprintf(buffer, sizeof buffer, "\\u%04x", c);
            out += buffer;
        } else {
            out += static_cast<char>(c);
        }
    }
    return out + "\"";
}

}  // namespace
