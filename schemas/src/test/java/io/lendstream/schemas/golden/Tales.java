package io.lendstream.schemas.golden;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.scheduler.SchedulerSettings;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** How the golden cases' logs came about. */
final class Tales {
    private Tales() {}

    static Map<String, Supplier<GoldenScenario>> all() {
        Map<String, Supplier<GoldenScenario>> all = new LinkedHashMap<>();
        all.put("lends idle gpus to a queued job", Tales::lendsIdleGpus);
        all.put("reclaims before the morning peak", Tales::reclaimsBeforeTheMorningPeak);
        all.put("waits for the release before serving", Tales::waitsForTheRelease);
        all.put("takes everything back when demand is unknown", Tales::takesEverythingBack);
        all.put("holds while rates are stale", Tales::holdsWhileRatesAreStale);
        all.put("undoes a bind without a report", Tales::undoesABind);
        all.put("quarantines after xid 79", Tales::quarantines);
        all.put("advice changes nothing", Tales::adviceChangesNothing);
        all.put("renews loans", Tales::renewsLoans);
        all.put("gives back the loan that hurts least", Tales::givesBackTheLoanThatHurtsLeast);
        all.put("keeps a rigid job whole or not at all", Tales::keepsARigidJobWhole);
        all.put("wakes a warm replica instead of starting one", Tales::wakesAWarmReplica);
        all.put("a freeze stops plans but not reclaims", Tales::aFreezeStopsPlans);
        all.put("a node that leaves takes nothing else with it", Tales::aNodeLeaves);
        all.put("a new scheduler carries on where the last one stopped", Tales::aNewScheduler);
        all.putAll(SliceTales.all());
        all.putAll(OperatorTales.all());
        all.putAll(KindTales.all());
        return all;
    }

    /** Two training GPUs, four of inference, and a service of which one replica answers 10 requests/s. */
    private static GoldenScenario cluster(GoldenScenario tale) {
        return tale.tell(it -> it.node("train", Pool.TRAINING, 2))
                .tell(it -> it.node("infer", Pool.INFERENCE, 4))
                .tell(it -> it.service("chat", 1))
                .settled(8);
    }

    /** The cluster with an elastic job that holds both training GPUs and two loans. */
    private static GoldenScenario lending(GoldenScenario tale, int maxGpus) {
        cluster(tale).job("bert", 2, maxGpus);
        tale.after(22).rate("chat", 5).after(30).settled(10).progress("bert");
        tale.after(20).rate("chat", 5).after(30).settled(10).progress("bert");
        return tale;
    }

    private static GoldenScenario lendsIdleGpus() {
        GoldenScenario tale = cluster(GoldenScenario.of("deepboot", "10:00")).rigidJob("resnet", 2);
        tale.after(22).rate("chat", 5).after(30).doneAfter(10).progress("resnet");
        tale.note("training's own GPUs are taken").job("bert", 1, 4);
        tale.after(20).rate("chat", 5).after(30).doneAfter(10).progress("bert");
        tale.after(20).rate("chat", 5).after(30).doneAfter(10).progress("bert");
        return tale;
    }

    private static GoldenScenario reclaimsBeforeTheMorningPeak() {
        GoldenScenario tale = lending(GoldenScenario.of("lendstream:plan-after-jobs=60s", "07:40"), 4);
        tale.after(30).rate("chat", 5);
        tale.note("the peak is further away than a release and a warm-up take, 53 s");
        tale.forecast("chat", 1, 6, 2, 7, 3, 8, 5, 24, 15, 26).after(30);
        tale.after(30).rate("chat", 5);
        tale.forecast("chat", 1, 7, 2, 16, 3, 24, 5, 26, 15, 26);
        tale.note("two replicas within 53 s, by this forecast of 30 s ago")
                .after(30)
                .doneAfter(8);
        tale.after(22).rate("chat", 6).forecast("chat", 1, 16, 2, 24, 3, 26, 5, 26, 15, 26);
        tale.note("three, and no GPU is free any more").after(30).settled(12);
        tale.after(6).note("the peak is there, and so are its replicas").rate("chat", 22);
        return tale;
    }

    private static GoldenScenario waitsForTheRelease() {
        GoldenScenario tale = lending(GoldenScenario.of("deepboot", "10:00"), 5);
        tale.after(20).note("three replicas are needed, one is there").rate("chat", 25);
        List<Decision> decided = tale.last();
        Decision serve = decided.get(0);
        Decision reclaim = decided.get(1);
        tale.after(8).answer(List.of(serve));
        tale.after(12).note("asked again, nothing is free yet").rate("chat", 25);
        tale.after(25).note("the job did not shrink in time, so the actuator made it");
        tale.report(reclaim, Outcome.FORCED, "still running 45 s after the notice")
                .settled(8);
        return tale;
    }

    private static GoldenScenario takesEverythingBack() {
        GoldenScenario tale = lending(GoldenScenario.of("deepboot", "10:00"), 4);
        tale.after(20).note("the last rate of chat: windows of 60 s, so 180 s are 3 windows");
        tale.rate("chat", 5).after(181).settled(10);
        return tale;
    }

    private static GoldenScenario holdsWhileRatesAreStale() {
        GoldenScenario tale =
                cluster(GoldenScenario.of("deepboot", SchedulerSettings.DEFAULTS, "10:00", Duration.ofSeconds(15)));
        tale.after(2).note("the last window of 15 s for a while").rate("chat", 5);
        tale.after(5).rigidJob("resnet", 4).after(45);
        tale.after(30)
                .note("rates are back")
                .rate("chat", 5)
                .after(15)
                .rate("chat", 5)
                .after(15)
                .settled(10);
        return tale;
    }

    private static GoldenScenario undoesABind() {
        GoldenScenario tale = cluster(GoldenScenario.of("deepboot", "10:00")).rigidJob("resnet", 4);
        tale.after(22).rate("chat", 5).after(30);
        Decision lend = tale.last().get(0);
        tale.after(50)
                .rate("chat", 5)
                .note("there was no report on the loan of 10:01")
                .after(10);
        Decision undo = tale.last().get(0);
        tale.after(5).note("the actuator is back, and nothing runs");
        tale.report(lend, Outcome.TIMED_OUT, "was away").answer(List.of(undo));
        tale.after(45).rate("chat", 5).after(10).settled(10);
        return tale;
    }

    private static GoldenScenario quarantines() {
        GoldenScenario tale = lending(GoldenScenario.of("deepboot", "10:00"), 4);
        Map<String, Integer> none = Map.of();
        Map<String, Integer> fallen = Map.of("infer-g1", 79);
        tale.after(5).sample("infer", none);
        tale.after(15).rate("chat", 5).note("a loan falls off the bus").sample("infer", fallen);
        tale.doneAfter(10).after(20).settled(10).progress("bert").sample("infer", fallen);
        tale.after(20).rate("chat", 5).note("an operator has checked it, and it still shows its last XID");
        tale.tell(it -> it.control(ControlCommand.Kind.RESET, new GpuId("infer-g1")));
        tale.sample("infer", fallen)
                .note("free again, and needed")
                .rate("chat", 25)
                .settled(8);
        return tale;
    }

    private static GoldenScenario adviceChangesNothing() {
        GoldenScenario tale = GoldenScenario.of("deepboot", "10:00");
        tale.tell(it -> it.control(ControlCommand.Kind.ADVISORY_ON));
        tale.tell(it -> it.node("train", Pool.TRAINING, 2))
                .tell(it -> it.node("infer", Pool.INFERENCE, 4))
                .tell(it -> it.service("chat", 1))
                .rigidJob("resnet", 4);
        tale.after(30).rate("chat", 5).after(30);
        for (Decision advice : tale.last()) {
            tale.report(advice, Outcome.REJECTED, "advisory");
        }
        tale.minute("chat", 5);
        tale.after(10).tell(it -> it.control(ControlCommand.Kind.ADVISORY_OFF)).settled(10);
        tale.rate("chat", 5).after(60).settled(10);
        return tale;
    }

    private static GoldenScenario renewsLoans() {
        SchedulerSettings shortLease = SchedulerSettings.of(Map.of("lease", "PT4M"));
        GoldenScenario tale = lending(GoldenScenario.of("deepboot", shortLease, "10:00", Duration.ofSeconds(60)), 4);
        for (int i = 0; i < 5; i++) {
            tale.after(20).rate("chat", 5).after(30).settled(10);
            tale.progress("bert");
        }
        return tale;
    }

    private static GoldenScenario givesBackTheLoanThatHurtsLeast() {
        GoldenScenario tale = GoldenScenario.of("deepboot", "10:00");
        tale.tell(it -> it.node("infer", Pool.INFERENCE, 7))
                .tell(it -> it.service("chat", 1))
                .settled(8);
        tale.note("its GPUs wait for each other most of the time").slowlyScalingJob("dlrm", 1, 2);
        tale.after(22).rate("chat", 5).after(30).settled(10).progress("dlrm");
        tale.after(20).rate("chat", 5).after(30).settled(10).progress("dlrm");
        tale.job("bert", 2, 4);
        for (int i = 0; i < 2; i++) {
            tale.after(20).rate("chat", 5).after(30).settled(10);
            tale.progress("bert").progress("dlrm");
        }
        tale.after(20)
                .note("one replica more, and no GPU is free")
                .rate("chat", 16)
                .settled(10);
        return tale;
    }

    private static GoldenScenario keepsARigidJobWhole() {
        GoldenScenario tale = cluster(GoldenScenario.of("deepboot", "10:00")).rigidJob("gpt", 4);
        tale.after(22).rate("chat", 5).after(30).settled(10).progress("gpt");
        tale.after(20).note("needs one of the two loans").rate("chat", 25).settled(10);
        tale.rate("chat", 25).after(30).settled(5);
        tale.rate("chat", 25).after(60);
        return tale;
    }

    private static GoldenScenario wakesAWarmReplica() {
        GoldenScenario tale = cluster(GoldenScenario.of("deepboot", "10:00"));
        tale.after(22).rate("chat", 15).settled(8);
        tale.after(52).note("one replica less is needed: it stays warm").rate("chat", 5);
        tale.after(20)
                .note("and is needed again: no start, no warm-up")
                .rate("chat", 15)
                .settled(1);
        tale.after(60).rate("chat", 5).after(60).note("by now it sleeps").rate("chat", 5);
        tale.job("bert", 3, 5).after(60).settled(10);
        return tale;
    }

    private static GoldenScenario aFreezeStopsPlans() {
        GoldenScenario tale = lending(GoldenScenario.of("deepboot", "10:00"), 4);
        tale.after(10).tell(it -> it.control(ControlCommand.Kind.FREEZE)).job("resnet", 1, 2);
        tale.after(10).rate("chat", 5).after(30);
        tale.after(20)
                .note("frozen, but inference comes first")
                .rate("chat", 25)
                .settled(10);
        tale.tell(it -> it.control(ControlCommand.Kind.THAW))
                .rate("chat", 25)
                .after(30)
                .settled(10);
        return tale;
    }

    private static GoldenScenario aNodeLeaves() {
        GoldenScenario tale = GoldenScenario.of("deepboot", "10:00");
        tale.tell(it -> it.node("train", Pool.TRAINING, 2))
                .tell(it -> it.node("infer-1", Pool.INFERENCE, 2))
                .tell(it -> it.node("infer-2", Pool.INFERENCE, 2))
                .tell(it -> it.service("chat", 1))
                .settled(8)
                .job("bert", 2, 5);
        tale.after(22).rate("chat", 5).after(30).settled(10).progress("bert");
        tale.after(20).rate("chat", 5).after(30).settled(10).progress("bert");
        tale.after(10).tell(it -> it.tell(new NodeLeft(new NodeId("infer-2"), Scenario.DOMAIN, it.now())));
        tale.settled(10).rate("chat", 5).after(60).settled(10);
        return tale;
    }

    private static GoldenScenario aNewScheduler() {
        GoldenScenario tale = lending(GoldenScenario.of("deepboot", "10:00"), 4);
        tale.after(20).rate("chat", 25);
        List<Decision> open = tale.last();
        tale.after(5).note("another instance takes over between a decision and its answer");
        tale.tell(it -> it.tell(new SchedulerStarted(
                Scenario.DOMAIN,
                it.now(),
                it.state().epoch() + 1,
                "deepboot",
                SchedulerSettings.DEFAULTS.toMap(),
                Optional.empty())));
        tale.after(5).answer(open).settled(8);
        return tale;
    }
}
