package io.lendstream.schemas.golden;

import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.id.Pool;
import io.lendstream.core.scheduler.SchedulerSettings;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** How the logs of golden cases on MIG instances and on batches came about. */
final class SliceTales {
    private static final String A100 = "NVIDIA A100-SXM4-80GB";
    private static final Duration WINDOW = Duration.ofSeconds(15);

    private SliceTales() {}

    static Map<String, Supplier<GoldenScenario>> all() {
        Map<String, Supplier<GoldenScenario>> all = new LinkedHashMap<>();
        all.put("cuts a gpu once batches are known", SliceTales::cutsAGpu);
        all.put("takes a loan back that is in the way of a cut", SliceTales::takesALoanBack);
        all.put("lends a small job the smallest instance that fits", SliceTales::lendsAnInstance);
        all.put("says how to batch once batches are known", SliceTales::saysHowToBatch);
        all.put("makes batches smaller where answers are late", SliceTales::makesBatchesSmaller);
        return all;
    }

    private static GoldenScenario story(boolean repartition) {
        return GoldenScenario.of("deepboot", SchedulerSettings.DEFAULTS.withRepartition(repartition), "10:00", WINDOW);
    }

    /** Batches in 15 s: 20 ms, and 5 ms for each of their requests. */
    private static List<BatchTimes> batches() {
        return List.of(1, 8, 32, 64).stream()
                .map(batch -> new BatchTimes(Optional.empty(), batch, 0, 30, 20 + 5 * batch))
                .toList();
    }

    /** A window whose servers say how long their batches took, and what comes of it. */
    private static GoldenScenario served(GoldenScenario tale, double perSecond, double p99Seconds) {
        return tale.tell(it -> it.served("chat", perSecond, p99Seconds, batches()));
    }

    /** A service on a whole GPU, 8 GiB a replica, beside a GPU of one instance. */
    private static GoldenScenario beside() {
        return story(true)
                .tell(it -> it.node("whole", Pool.INFERENCE, 1, A100))
                .tell(it -> it.service("chat", 1, 8))
                .settled(8)
                .tell(it -> it.migNode("cut", Pool.INFERENCE, "7g.80gb@0"));
    }

    private static GoldenScenario cutsAGpu() {
        GoldenScenario tale = beside();
        for (int window = 0; window < 3; window++) {
            tale.after(15);
            served(tale, 8, .1).settled(2);
        }
        tale.note("the node reports the cut").tell(it -> it.migNode("cut", Pool.INFERENCE, "1g.20gb@6"));
        tale.settled(8).after(15);
        served(tale, 8, .1).settled(2);
        return tale;
    }

    private static GoldenScenario takesALoanBack() {
        GoldenScenario tale = beside().tell(it -> it.smallJob("bert", 1, 8));
        for (int window = 0; window < 5; window++) {
            tale.after(15).settled(3).tell(it -> it.rate("chat", 8)).settled(3);
        }
        tale.tell(it -> it.progress("bert", JobPhase.RUNNING));
        for (int window = 0; window < 3; window++) {
            tale.after(15);
            served(tale, 8, .1).settled(2);
        }
        tale.note("the node reports the cut").tell(it -> it.migNode("cut", Pool.INFERENCE, "1g.20gb@6"));
        return tale.settled(8);
    }

    private static GoldenScenario lendsAnInstance() {
        GoldenScenario tale = story(false);
        tale.tell(it -> it.migNode("cut", Pool.INFERENCE, "3g.40gb@4 2g.20gb@0 1g.10gb@2"))
                .tell(it -> it.service("chat", 0))
                .tell(it -> it.rate("chat", 0))
                .note("12 GiB: too much for 1g.10gb")
                .tell(it -> it.smallJob("bert", 1, 12))
                .note("says nothing of its memory, so it needs a whole GPU")
                .job("resnet", 1, 1);
        for (int window = 0; window < 6; window++) {
            tale.after(15).settled(3).tell(it -> it.rate("chat", 0)).settled(3);
        }
        return tale;
    }

    private static GoldenScenario saysHowToBatch() {
        GoldenScenario tale = story(false);
        tale.tell(it -> it.node("infer", Pool.INFERENCE, 2, A100))
                .tell(it -> it.service("chat", 1))
                .settled(8);
        for (int window = 0; window < 5; window++) {
            tale.after(15);
            served(tale, 8, .1).settled(1);
        }
        return tale;
    }

    private static GoldenScenario makesBatchesSmaller() {
        GoldenScenario tale = saysHowToBatch();
        tale.after(15).note("the p99 is 530 ms, of 500 ms");
        served(tale, 8, .53).settled(1);
        tale.after(15);
        served(tale, 8, .53).settled(1);
        return tale;
    }
}
