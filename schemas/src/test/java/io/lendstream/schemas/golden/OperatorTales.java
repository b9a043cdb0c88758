package io.lendstream.schemas.golden;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.Pool;
import io.lendstream.core.scheduler.SchedulerSettings;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** How the logs of golden cases came about in which operators approve, guards bound plans, or events have waited. */
final class OperatorTales {
    private OperatorTales() {}

    static Map<String, Supplier<GoldenScenario>> all() {
        Map<String, Supplier<GoldenScenario>> all = new LinkedHashMap<>();
        all.put("decides again what was advised once it is approved", OperatorTales::decidesWhatIsApproved);
        all.put("holds an approved loan while the domain is frozen", OperatorTales::holdsAnApprovedLoan);
        all.put("lends at most two gpus at a time", OperatorTales::lendsTwoAtATime);
        all.put("makes no plans in a quiet window but serves", OperatorTales::makesNoPlansInAQuietWindow);
        all.put("decides nothing for times that are over", OperatorTales::decidesNothingForTheBacklog);
        return all;
    }

    /** Two training GPUs, four of inference, and a service of which one replica answers 10 requests/s. */
    private static GoldenScenario cluster(GoldenScenario tale) {
        return tale.tell(it -> it.node("train", Pool.TRAINING, 2))
                .tell(it -> it.node("infer", Pool.INFERENCE, 4))
                .tell(it -> it.service("chat", 1))
                .settled(8);
    }

    private static GoldenScenario guarded(Map<String, String> settings) {
        return GoldenScenario.of("deepboot", SchedulerSettings.of(settings), "10:00", Duration.ofSeconds(60));
    }

    /** The cluster where everything is advice, and the advice to lend to a job. */
    private static GoldenScenario advised() {
        GoldenScenario tale = cluster(GoldenScenario.of("deepboot", "10:00"));
        tale.tell(it -> it.control(ControlCommand.Kind.ADVISORY_ON)).rigidJob("resnet", 4);
        tale.after(22).rate("chat", 5).after(30);
        tale.last().forEach(advice -> tale.report(advice, Outcome.REJECTED, "advisory"));
        return tale;
    }

    private static Decision advice(GoldenScenario tale) {
        return tale.story().decisions().stream()
                .filter(decision -> decision.advisory() && decision.action() instanceof Action.Lend)
                .reduce((one, later) -> later)
                .orElseThrow();
    }

    private static GoldenScenario decidesWhatIsApproved() {
        GoldenScenario tale = advised();
        Decision advice = advice(tale);
        tale.after(5).tell(it -> it.approve(advice.id())).settled(10);
        tale.after(5).note("a second time").tell(it -> it.approve(advice.id()));
        return tale;
    }

    private static GoldenScenario holdsAnApprovedLoan() {
        GoldenScenario tale = advised();
        Decision advice = advice(tale);
        tale.after(5).tell(it -> it.control(ControlCommand.Kind.FREEZE));
        tale.after(5).tell(it -> it.approve(advice.id()));
        tale.after(5).tell(it -> it.control(ControlCommand.Kind.THAW));
        tale.after(5).tell(it -> it.approve(advice.id())).settled(10);
        return tale;
    }

    private static GoldenScenario lendsTwoAtATime() {
        GoldenScenario tale = guarded(Map.of("max-transfers", "2", "bind-deadline", "PT2M"));
        tale.tell(it -> it.node("infer", Pool.INFERENCE, 5))
                .tell(it -> it.service("chat", 1))
                .settled(8);
        for (String job : List.of("bert", "resnet", "dlrm", "gpt")) {
            tale.rigidJob(job, 1);
        }
        tale.after(22).rate("chat", 5).after(30);
        List<Decision> first = tale.last();
        tale.after(10).answer(first.subList(0, 1));
        tale.after(20)
                .rate("chat", 5)
                .note("one of the two is on its way still")
                .after(30);
        List<Decision> second = tale.last();
        tale.after(10).answer(first.subList(1, 2)).answer(second);
        tale.after(20).rate("chat", 5).after(30).settled(10);
        return tale;
    }

    private static GoldenScenario makesNoPlansInAQuietWindow() {
        GoldenScenario tale =
                cluster(guarded(Map.of("quiet-windows", "10:02-10:04"))).job("bert", 2, 4);
        tale.after(22).rate("chat", 5).after(30).settled(10).progress("bert");
        tale.after(20).rate("chat", 5).note("quiet: the job does not grow").after(30);
        tale.after(30).note("but a second replica starts").rate("chat", 15).settled(8);
        tale.after(22)
                .after(30)
                .rate("chat", 15)
                .note("the window is over")
                .after(30)
                .settled(10);
        return tale;
    }

    private static GoldenScenario decidesNothingForTheBacklog() {
        GoldenScenario tale = GoldenScenario.behind("deepboot", "10:00", Duration.ofMinutes(3));
        tale.tell(it -> it.node("train", Pool.TRAINING, 2))
                .tell(it -> it.node("infer", Pool.INFERENCE, 4))
                .tell(it -> it.service("chat", 1))
                .rigidJob("resnet", 2);
        for (int minute = 0; minute < 5; minute++) {
            tale.minute("chat", 15).settled(8);
        }
        return tale;
    }
}
