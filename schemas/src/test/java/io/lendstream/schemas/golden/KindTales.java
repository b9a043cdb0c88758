package io.lendstream.schemas.golden;

import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.scheduler.ClusterModel;
import io.lendstream.core.scheduler.SchedulerSettings;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** How the logs of golden cases came about in which a domain has GPUs of several models. */
final class KindTales {
    private static final String A100 = "NVIDIA A100-SXM4-80GB";
    private static final String T4 = "Tesla T4";

    private KindTales() {}

    static Map<String, Supplier<GoldenScenario>> all() {
        Map<String, Supplier<GoldenScenario>> all = new LinkedHashMap<>();
        all.put("treats two gpu models alike in an old log", KindTales::treatsTwoModelsAlike);
        all.put("gives each job gpus of one kind", KindTales::givesEachJobOneKind);
        return all;
    }

    /** Both models in both pools, and a service of which one replica answers 10 requests/s. */
    private static GoldenScenario mixed(GoldenScenario tale) {
        return tale.tell(it -> it.node("train-a", Pool.TRAINING, 2, A100, 80))
                .tell(it -> it.node("train-t", Pool.TRAINING, 2, T4, 16))
                .tell(it -> it.node("infer-a", Pool.INFERENCE, 2, A100, 80))
                .tell(it -> it.node("infer-t", Pool.INFERENCE, 3, T4, 16))
                .tell(it -> it.service("chat", 1))
                .settled(8);
    }

    /** Two jobs, each on a kind of its own, and a service whose replica needs more memory than a T4 has. */
    private static GoldenScenario givesEachJobOneKind() {
        SchedulerSettings kinds = SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS);
        GoldenScenario tale = mixed(GoldenScenario.of("deepboot", kinds, "10:00", Duration.ofSeconds(60)));
        tale.note("only T4 has so many GPUs").rigidJob("bert", 5);
        tale.note("T4 has more free GPUs, but the other job asks for them").rigidJob("resnet", 3);
        tale.after(22).rate("chat", 5).after(30).settled(10);
        tale.progress("bert").progress("resnet");
        tale.note("a replica needs 40 GiB").tell(it -> it.service("large", 0, 40));
        tale.after(20).note("only the loan of an A100 is in question").rate("large", 5);
        tale.settled(10);
        return tale;
    }

    /** A log without the setting that tells kinds apart: jobs and loans mix the models, as they always did. */
    private static GoldenScenario treatsTwoModelsAlike() {
        GoldenScenario tale = mixed(GoldenScenario.of("deepboot", "10:00"));
        tale.note("it may use all GPUs of training, and loans of both models").job("bert", 2, 7);
        tale.after(22).rate("chat", 5).after(30).settled(10).progress("bert");
        tale.after(20).rate("chat", 5).after(30).settled(10).progress("bert");
        tale.slowlyScalingJob("dlrm", 1, 2);
        tale.after(20).rate("chat", 5).after(30).settled(10);
        tale.progress("bert").progress("dlrm");
        tale.after(20).note("two replicas more than there are").rate("chat", 28).settled(10);
        tale.after(20).rate("chat", 28).rigidJob("gpt", 3).after(30).settled(10);
        tale.progress("bert").progress("dlrm");
        tale.after(20).rate("chat", 5).after(60).settled(10);
        tale.note("one model less in the pool of training");
        tale.tell(it -> it.tell(new NodeLeft(new NodeId("train-t"), Scenario.DOMAIN, it.now())));
        tale.settled(10).rate("chat", 5).after(60).settled(10);
        tale.tell(it -> it.tell(new SchedulerStarted(
                Scenario.DOMAIN,
                it.now(),
                it.state().epoch() + 1,
                "deepboot",
                SchedulerSettings.DEFAULTS.toMap(),
                Optional.empty())));
        tale.rate("chat", 5).after(60).settled(10).rate("chat", 25).settled(10);
        return tale;
    }
}
