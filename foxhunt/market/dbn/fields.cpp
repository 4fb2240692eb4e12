#include "foxhunt/market/dbn/fields.h"

#include <algorithm>

#include "foxhunt/market/dbn/definition_fields.h"

namespace foxhunt::market::dbn {
namespace {

using Fields = std::span<const Field>;

constexpr Field kMboMsg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"order_id", 16, 8, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"price", 24, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"size", 32, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"flags", 36, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"channel_id", 37, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"action", 38, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"side", 39, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"ts_recv", 40, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"ts_in_delta", 48, 4, FieldType::kSigned, FieldMeaning::kPlain},
    {"sequence", 52, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
};
constexpr Field kTradeMsg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"price", 16, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"size", 24, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"action", 28, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"side", 29, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"flags", 30, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"depth", 31, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_recv", 32, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"ts_in_delta", 40, 4, FieldType::kSigned, FieldMeaning::kPlain},
    {"sequence", 44, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
};
constexpr Field kMbp1Msg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"price", 16, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"size", 24, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"action", 28, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"side", 29, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"flags", 30, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"depth", 31, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_recv", 32, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"ts_in_delta", 40, 4, FieldType::kSigned, FieldMeaning::kPlain},
    {"sequence", 44, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_px_00", 48, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_00", 56, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_00", 64, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_00", 68, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_ct_00", 72, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_ct_00", 76, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
};
constexpr Field kMbp10Msg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"price", 16, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"size", 24, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"action", 28, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"side", 29, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"flags", 30, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"depth", 31, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_recv", 32, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"ts_in_delta", 40, 4, FieldType::kSigned, FieldMeaning::kPlain},
    {"sequence", 44, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_px_00", 48, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_00", 56, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_00", 64, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_00", 68, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_ct_00", 72, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_ct_00", 76, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_px_01", 80, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_01", 88, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_01", 96, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_01", 100, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_ct_01", 104, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_ct_01", 108, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_px_02", 112, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_02", 120, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_02", 128, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_02", 132, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_ct_02", 136, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_ct_02", 140, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_px_03", 144, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_03", 152, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_03", 160, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_03", 164, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_ct_03", 168, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_ct_03", 172, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_px_04", 176, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_04", 184, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_04", 192, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_04", 196, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_ct_04", 200, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_ct_04", 204, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_px_05", 208, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_05", 216, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_05", 224, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_05", 228, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_ct_05", 232, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_ct_05", 236, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_px_06", 240, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_06", 248, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_06", 256, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_06", 260, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_ct_06", 264, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_ct_06", 268, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_px_07", 272, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_07", 280, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_07", 288, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_07", 292, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_ct_07", 296, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_ct_07", 300, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_px_08", 304, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_08", 312, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_08", 320, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_08", 324, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_ct_08", 328, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_ct_08", 332, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_px_09", 336, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_09", 344, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_09", 352, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_09", 356, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_ct_09", 360, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_ct_09", 364, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
};
constexpr Field kBboMsg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"price", 16, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"size", 24, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"side", 29, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"flags", 30, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_recv", 32, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"sequence", 44, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_px_00", 48, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_00", 56, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_00", 64, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_00", 68, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_ct_00", 72, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_ct_00", 76, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
};
constexpr Field kCmbp1Msg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"price", 16, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"size", 24, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"action", 28, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"side", 29, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"flags", 30, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_recv", 32, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"ts_in_delta", 40, 4, FieldType::kSigned, FieldMeaning::kPlain},
    {"bid_px_00", 48, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_00", 56, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_00", 64, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_00", 68, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_pb_00", 72, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_pb_00", 76, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
};
constexpr Field kCbboMsg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"price", 16, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"size", 24, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"side", 29, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"flags", 30, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_recv", 32, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"bid_px_00", 48, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ask_px_00", 56, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"bid_sz_00", 64, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_sz_00", 68, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"bid_pb_00", 72, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ask_pb_00", 76, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
};
constexpr Field kOhlcvMsg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"open", 16, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"high", 24, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"low", 32, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"close", 40, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"volume", 48, 8, FieldType::kUnsigned, FieldMeaning::kPlain},
};
constexpr Field kStatusMsg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"ts_recv", 16, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"action", 24, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"reason", 26, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"trading_event", 28, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"is_trading", 30, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"is_quoting", 31, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"is_short_sell_restricted", 32, 1, FieldType::kChar, FieldMeaning::kPlain},
};
constexpr Field kImbalanceMsg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"ts_recv", 16, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"ref_price", 24, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"auction_time", 32, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"cont_book_clr_price", 40, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"auct_interest_clr_price", 48, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ssr_filling_price", 56, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"ind_match_price", 64, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"upper_collar", 72, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"lower_collar", 80, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"paired_qty", 88, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"total_imbalance_qty", 92, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"market_imbalance_qty", 96, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"unpaired_qty", 100, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"auction_type", 104, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"side", 105, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"auction_status", 106, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"freeze_status", 107, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"num_extensions", 108, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"unpaired_side", 109, 1, FieldType::kChar, FieldMeaning::kPlain},
    {"significant_imbalance", 110, 1, FieldType::kChar, FieldMeaning::kPlain},
};
constexpr Field kStatMsg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"ts_recv", 16, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"ts_ref", 24, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"price", 32, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"quantity", 40, 8, FieldType::kSigned, FieldMeaning::kPlain},
    {"sequence", 48, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_in_delta", 52, 4, FieldType::kSigned, FieldMeaning::kPlain},
    {"stat_type", 56, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"channel_id", 58, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"update_action", 60, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"stat_flags", 61, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
};
constexpr Field kStatMsgV1[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"ts_recv", 16, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"ts_ref", 24, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"price", 32, 8, FieldType::kSigned, FieldMeaning::kPrice},
    {"quantity", 40, 4, FieldType::kSigned, FieldMeaning::kPlain},
    {"sequence", 44, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_in_delta", 48, 4, FieldType::kSigned, FieldMeaning::kPlain},
    {"stat_type", 52, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"channel_id", 54, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"update_action", 56, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"stat_flags", 57, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
};
constexpr Field kErrorMsg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"err", 16, 302, FieldType::kText, FieldMeaning::kPlain},
    {"code", 318, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"is_last", 319, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
};
constexpr Field kErrorMsgV1[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"err", 16, 64, FieldType::kText, FieldMeaning::kPlain},
};
constexpr Field kSystemMsg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"msg", 16, 303, FieldType::kText, FieldMeaning::kPlain},
    {"code", 319, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
};
constexpr Field kSystemMsgV1[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"msg", 16, 64, FieldType::kText, FieldMeaning::kPlain},
};
constexpr Field kSymbolMappingMsg[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"stype_in", 16, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"stype_in_symbol", 17, 71, FieldType::kText, FieldMeaning::kPlain},
    {"stype_out", 88, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"stype_out_symbol", 89, 71, FieldType::kText, FieldMeaning::kPlain},
    {"start_ts", 160, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"end_ts", 168, 8, FieldType::kUnsigned, FieldMeaning::kTime},
};
constexpr Field kSymbolMappingMsgV1[] = {
    {"rtype", 1, 1, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"publisher_id", 2, 2, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"instrument_id", 4, 4, FieldType::kUnsigned, FieldMeaning::kPlain},
    {"ts_event", 8, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"stype_in_symbol", 16, 22, FieldType::kText, FieldMeaning::kPlain},
    {"stype_out_symbol", 38, 22, FieldType::kText, FieldMeaning::kPlain},
    {"start_ts", 64, 8, FieldType::kUnsigned, FieldMeaning::kTime},
    {"end_ts", 72, 8, FieldType::kUnsigned, FieldMeaning::kTime},
};

}  // namespace

std::span<const Field> fields_of(int rtype, int version) {
  switch (rtype) {
    case 0x00:
      return kTradeMsg;
    case 0x01:
      return kMbp1Msg;
    case 0x0A:
      return kMbp10Msg;
    case 0x11:
    case 0x20:
    case 0x21:
    case 0x22:
    case 0x23:
    case 0x24:
      return kOhlcvMsg;
    case 0x12:
      return kStatusMsg;
    case 0x13:
      return definition_fields(version);
    case 0x14:
      return kImbalanceMsg;
    case 0x15:
      return version == 1 ? Fields(kErrorMsgV1) : Fields(kErrorMsg);
    case 0x16:
      return version == 1 ? Fields(kSymbolMappingMsgV1) : Fields(kSymbolMappingMsg);
    case 0x17:
      return version == 1 ? Fields(kSystemMsgV1) : Fields(kSystemMsg);
    case 0x18:
      return version < 3 ? Fields(kStatMsgV1) : Fields(kStatMsg);
    case 0xA0:
      return kMboMsg;
    case 0xB1:
    case 0xC2:
      return kCmbp1Msg;
    case 0xC0:
    case 0xC1:
      return kCbboMsg;
    case 0xC3:
    case 0xC4:
      return kBboMsg;
    default:
      return {};
  }
}

const Field* find_field(std::span<const Field> fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &Field::name);
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace foxhunt::market::dbn
