// What the environment says of a process, and what it may not say.
#include "foxhunt/ranks/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "foxhunt/base/error.h"

namespace foxhunt::ranks {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<Place> place(const Variables& variables) {
  return place_from([&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string error_of(const Variables& variables) {
  try {
    place(variables);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

const Variables kTorchrun{{"RANK", "5"},        {"WORLD_SIZE", "8"},
                          {"LOCAL_RANK", "1"},  {"LOCAL_WORLD_SIZE", "4"},
                          {"MASTER_ADDR", "h"}, {"MASTER_PORT", "29501"}};

Variables with(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}
Variables without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

TEST(Place, OfTorchrun) {
  const Place p = place(kTorchrun).value();
  EXPECT_EQ(p.rank, 5);
  EXPECT_EQ(p.size, 8);
  EXPECT_EQ(p.local_rank, 1);
  EXPECT_EQ(p.local_size, 4);
  EXPECT_EQ(p.address, "h");
  EXPECT_EQ(p.port, 29501);
  EXPECT_FALSE(p.served);
  EXPECT_TRUE(place(with(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "True"))->served);
  EXPECT_FALSE(place(with(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "False"))->served);
  EXPECT_EQ(place(with(kTorchrun, "TORCHELASTIC_RESTART_COUNT", "2"))->attempt, "2");
}

TEST(Place, OfFoxhuntLaunchNeedsNoAddress) {
  const Place p =
      place({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"FOXHUNT_MEETING_FILE", "/x"}}).value();
  EXPECT_EQ(p.file, "/x");
  EXPECT_TRUE(p.address.empty());
}

TEST(Place, AProcessAloneHasNone) {
  EXPECT_FALSE(place({}));
  EXPECT_FALSE(place({{"RANK", "0"}, {"WORLD_SIZE", "1"}}));
  EXPECT_FALSE(place({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}));  // a batch script, no srun
  // srun -n1: nobody is to be met, so no list of hosts is needed.
  EXPECT_FALSE(place({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}));
}

TEST(Place, OfSlurm) {
  const Variables slurm{{"SLURM_PROCID", "3"},
                        {"SLURM_STEP_NUM_TASKS", "8"},
                        {"SLURM_LOCALID", "1"},
                        {"SLURM_STEP_NODELIST", "gpu[07-09]"},
                        {"SLURM_JOB_ID", "1001"},
                        {"SLURM_STEP_ID", "2"},
                        {"SLURM_STEP_TASKS_PER_NODE", "2(x4)"}};
  const Place p = place(slurm).value();
  EXPECT_EQ(p.rank, 3);
  EXPECT_EQ(p.size, 8);
  EXPECT_EQ(p.local_rank, 1);
  EXPECT_EQ(p.local_size, 2);
  EXPECT_EQ(p.address, "gpu07");
  EXPECT_EQ(p.port, 29500 + (1001 * 7 + 2) % 4000);
  EXPECT_EQ(place(with(slurm, "SLURM_STEP_TASKS_PER_NODE", "4(x2),3"))->local_size, 1)
      << "hosts differ, and this one's share is not told";
  EXPECT_EQ(place(with(slurm, "MASTER_ADDR", "login"))->address, "login");
  EXPECT_EQ(place(with(slurm, "MASTER_PORT", "1234"))->port, 1234);
  EXPECT_EQ(place({{"SLURM_PROCID", "1"},
                   {"SLURM_NTASKS", "2"},
                   {"SLURM_STEP_ID", "0"},
                   {"SLURM_JOB_NODELIST", "a,b"}})
                ->address,
            "a");
  // torchrun below srun: its variables are the nearer ones.
  Variables both = slurm;
  both.insert(kTorchrun.begin(), kTorchrun.end());
  EXPECT_EQ(place(both)->rank, 5);
}

TEST(Place, ErrorsNameTheVariable) {
  EXPECT_EQ(error_of(with(kTorchrun, "RANK", "8")),
            "[ranks] RANK=8 of WORLD_SIZE=8: ranks count from 0");
  EXPECT_EQ(error_of(with(kTorchrun, "RANK", "1x")),
            "[ranks] RANK=1x is no number from 0 to 65536");
  EXPECT_EQ(error_of(with(kTorchrun, "RANK", "-1")),
            "[ranks] RANK=-1 is no number from 0 to 65536");
  EXPECT_EQ(error_of(with(kTorchrun, "WORLD_SIZE", "0")),
            "[ranks] WORLD_SIZE=0 is no number from 1 to 65536");
  EXPECT_EQ(error_of(without(kTorchrun, "RANK")), "[ranks] RANK is not set, but WORLD_SIZE is");
  EXPECT_EQ(error_of(without(kTorchrun, "WORLD_SIZE")),
            "[ranks] WORLD_SIZE is not set, but RANK is");
  EXPECT_EQ(error_of(without(kTorchrun, "MASTER_ADDR")),
            "[ranks] MASTER_ADDR is not set, but WORLD_SIZE=8 asks for more than one process");
  EXPECT_EQ(error_of(with(kTorchrun, "MASTER_PORT", "70000")),
            "[ranks] MASTER_PORT=70000 is no number from 1 to 65535");
}

TEST(FirstHost, OfEveryShortFormThatSlurmWrites) {
  EXPECT_EQ(first_host("node1"), "node1");
  EXPECT_EQ(first_host("node1,node2"), "node1");
  EXPECT_EQ(first_host("node[003-007,9],login1"), "node003");
  EXPECT_EQ(first_host("node[5,7-9]"), "node5");
  EXPECT_EQ(first_host("n[12]"), "n12");
  EXPECT_EQ(first_host("rack[1-2]-n[03-04]"), "rack1-n03");
  EXPECT_EQ(first_host("rack[1-2].example.org,x"), "rack1.example.org");
  EXPECT_EQ(first_host("a-b-c[1-2]"), "a-b-c1");
}

TEST(FirstHost, RefusesWhatIsNone) {
  for (const char* list : {"", ",a", "n[", "n[]", "n[1-2", "n[-2]"})
    EXPECT_THROW(first_host(list), ConfigError) << list;
}

}  // namespace
}  // namespace foxhunt::ranks
