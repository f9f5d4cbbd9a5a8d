// SPDX-License-Identifier: Apache-2.0
#include "server/codec/work_glance.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "arclane/v1/planner.pb.h"

namespace arclane {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// What agents that round corners spend on it unless they say otherwise (agent.proto).
constexpr double kDefaultCornerBudget_s = 0.0003;
// The largest budget that is accepted; more is refused before it costs anything.
constexpr double kMostCornerBudget_s = 1.0;

// The model, from this project's benchmarks on one core: a plan's fixed part; reading, building and
// cutting a byte of geometry; resolving and planning through a polygon; a sample of all columns.
constexpr double kFixed_s = 3e-6;
constexpr double kByte_s = 3e-9;
constexpr double kRef_s = 0.2e-6;
constexpr double kSample_s = 20e-9;
// Keeping a clearance takes this many times as long as the shortest line.
constexpr double kClearanceFactor = 10;

// Where the messages that matter stand in each kind of request; 0: nowhere.
struct FieldNumbers {
  int corridor = 0;
  int agent = 0;
  int sampling = 0;
};

FieldNumbers FieldsOf(WorkKind kind) {
  switch (kind) {
    case WorkKind::kCorridor:
    case WorkKind::kCorridorByRef:
      return {v1::PlanCorridorRequest::kCorridorFieldNumber,
              v1::PlanCorridorRequest::kAgentFieldNumber,
              v1::PlanCorridorRequest::kSamplingFieldNumber};
    case WorkKind::kWaypoints:
      return {0, v1::PlanWaypointsRequest::kAgentFieldNumber,
              v1::PlanWaypointsRequest::kSamplingFieldNumber};
    case WorkKind::kSpline:
      return {0, 0, v1::PlanSplineRequest::kSamplingFieldNumber};
    case WorkKind::kSpeed:
      break;
  }
  return {};
}

// Calls visit(field, wire type, value, piece) for each field of a message: `value` of varints and
// 64-bit numbers, `piece` of what has a length.
template <typename Visit>
void ForEachField(std::string_view encoded, Visit visit) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(encoded.data()),
                      static_cast<int>(encoded.size()));
  while (const uint32_t tag = in.ReadTag()) {
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    uint64_t value = 0;
    std::string_view piece;
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_VARINT:
        if (!in.ReadVarint64(&value)) return;
        break;
      case WireFormatLite::WIRETYPE_FIXED64:
        if (!in.ReadLittleEndian64(&value)) return;
        break;
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
        uint32_t length = 0;
        if (!in.ReadVarint32(&length)) return;
        const auto begin = static_cast<size_t>(in.CurrentPosition());
        if (length > encoded.size() - begin) return;
        piece = encoded.substr(begin, length);
        in.Skip(static_cast<int>(length));
        break;
      }
      default:
        if (!WireFormatLite::SkipField(&in, tag)) return;
        continue;
    }
    visit(field, value, piece);
  }
}

void GlanceAtCorridor(std::string_view corridor, WorkGlance& glance) {
  ForEachField(corridor, [&](int field, uint64_t, std::string_view piece) {
    if (field != v1::Corridor::kRefsFieldNumber) return;
    glance.kind = WorkKind::kCorridorByRef;
    glance.refs = piece.size() / sizeof(uint64_t);
  });
}

void SetBudget(double budget_s, WorkGlance& glance) {
  if (budget_s > 0) glance.corner_budget_s = std::min(budget_s, kMostCornerBudget_s);
}

void SetSamples(double count, bool told, double most, WorkGlance& glance) {
  constexpr double kFew = 1000;
  if (most > 0 && count > most) count = 0;  // It will be refused.
  glance.samples = count;
  glance.tells_samples = told || (most > 0 && most <= kFew);
}

void GlanceAtAgent(std::string_view agent, WorkGlance& glance) {
  bool rounds = false;
  double budget_s = kDefaultCornerBudget_s;
  ForEachField(agent, [&](int field, uint64_t, std::string_view piece) {
    if (field == v1::AgentProfile::kBodyFieldNumber) {
      ForEachField(piece, [&](int inner, uint64_t value, std::string_view) {
        rounds |= inner == v1::AgentBody::kMaxTurnRadiusFieldNumber;
        glance.keeps_clearance |= inner == v1::AgentBody::kClearanceFieldNumber && value != 0;
      });
    } else if (field == v1::AgentProfile::kMannersFieldNumber) {
      ForEachField(piece, [&](int inner, uint64_t value, std::string_view) {
        if (inner == v1::AgentManners::kCornerWorkBudgetSFieldNumber)
          budget_s = std::bit_cast<double>(value);
      });
    }
  });
  if (rounds) SetBudget(budget_s, glance);
}

void GlanceAtSampling(std::string_view sampling, WorkGlance& glance) {
  double count = 0, most = 0;
  bool told = true;
  ForEachField(sampling, [&](int field, uint64_t value, std::string_view piece) {
    switch (field) {
      case v1::Sampling::kCountFieldNumber:
        count = static_cast<double>(value);
        break;
      case v1::Sampling::kMaxCountFieldNumber:
        most = static_cast<double>(value);
        break;
      case v1::Sampling::kDistancesFieldNumber:
        count = static_cast<double>(piece.size() / sizeof(double));
        break;
      case v1::Sampling::kSpacingFieldNumber:
      case v1::Sampling::kTimeStepSFieldNumber:
        told = false;
        break;
      default:
        break;
    }
  });
  SetSamples(count, told, most, glance);
}

}  // namespace

void GlanceAtAgent(const v1::AgentProfile& agent, WorkGlance& glance) {
  glance.keeps_clearance |= agent.body().clearance() != 0;
  if (!agent.body().has_max_turn_radius()) return;
  const v1::AgentManners& manners = agent.manners();
  SetBudget(
      manners.has_corner_work_budget_s() ? manners.corner_work_budget_s() : kDefaultCornerBudget_s,
      glance);
}

void GlanceAtSampling(const v1::Sampling& sampling, WorkGlance& glance) {
  const bool by_number = sampling.has_count() || sampling.has_distances();
  const double count =
      sampling.has_count() ? sampling.count() : sampling.distances().distance_size();
  SetSamples(count, by_number || sampling.rule_case() == v1::Sampling::RULE_NOT_SET,
             sampling.max_count(), glance);
}

double WorkGlance::PriorSeconds() const {
  double line_s = static_cast<double>(bytes) * kByte_s + static_cast<double>(refs) * kRef_s;
  if (keeps_clearance) line_s *= kClearanceFactor;
  return kFixed_s + line_s + samples * kSample_s + corner_budget_s;
}

WorkGlance GlanceAtWork(WorkKind kind, std::string_view encoded) {
  const FieldNumbers fields = FieldsOf(kind);
  WorkGlance glance;
  glance.kind = kind;
  glance.bytes = encoded.size();
  ForEachField(encoded, [&](int field, uint64_t, std::string_view piece) {
    if (piece.empty()) return;
    if (field == fields.agent) {
      GlanceAtAgent(piece, glance);
    } else if (field == fields.corridor) {
      GlanceAtCorridor(piece, glance);
    } else if (field == fields.sampling) {
      GlanceAtSampling(piece, glance);
    }
  });
  return glance;
}

}  // namespace arclane
