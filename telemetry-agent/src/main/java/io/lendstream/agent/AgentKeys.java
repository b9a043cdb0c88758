package io.lendstream.agent;

import io.lendstream.service.settings.Key;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The agent's settings. */
public final class AgentKeys {
    public static final Key<String> DOMAIN =
            Key.word("agent.domain", "default", "Domain of the nodes: within it GPUs may be lent.");
    public static final Key<Duration> PERIOD =
            Key.period("agent.period", "15s", "How often a sample of every node is taken.");
    public static final Key<Integer> NODES = Key.count("agent.nodes", 1, 100_000, 16, "Simulated nodes.");
    public static final Key<Integer> GPUS_PER_NODE =
            Key.count("agent.gpus-per-node", 1, 64, 4, "GPUs of each simulated node.");
    public static final Key<Optional<Integer>> TRAINING_NODES = Key.count(
                    "agent.training-nodes",
                    0,
                    100_000,
                    0,
                    "How many of the simulated nodes, the first ones, are training's; nothing for half of them.")
            .optional();
    public static final Key<Integer> CUTTABLE_NODES = Key.count(
            "agent.cuttable-nodes",
            0,
            100_000,
            0,
            "How many of the simulated nodes, the last ones, have GPUs that may be cut into MIG instances.");
    public static final Key<Long> SEED = Key.number("agent.seed", 1, "Seed of the simulated samples.");

    public static final List<Key<?>> ALL =
            List.of(DOMAIN, PERIOD, NODES, GPUS_PER_NODE, TRAINING_NODES, CUTTABLE_NODES, SEED);

    private AgentKeys() {}
}
