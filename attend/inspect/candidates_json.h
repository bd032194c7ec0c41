// The candidates of a place as JSON. Not for use outside inspect/.
#pragma once

#include <nlohmann/json.hpp>

#include "attend/inspect/candidates.h"
#include "attend/io/json_text.h"

namespace attend {

// {"likeliest": [[token, probability], ...], "probability", "rank"}.
inline nlohmann::ordered_json candidates_json(const Candidates& candidates) {
  nlohmann::ordered_json likeliest = nlohmann::ordered_json::array();
  for (const CandidateToken& token : candidates.likeliest) {
    likeliest.push_back({token.text, shortest(token.probability)});
  }
  return {{"likeliest", likeliest},
          {"probability", shortest(candidates.probability)},
          {"rank", candidates.rank}};
}

}  // namespace attend
