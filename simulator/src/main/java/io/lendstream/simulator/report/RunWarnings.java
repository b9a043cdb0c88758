package io.lendstream.simulator.report;

import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.simulator.report.RunFacts.References;
import io.lendstream.simulator.workload.InferenceNeed;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Finds what readers of results must not overlook: overload, missed objectives, idle clusters, experimental policies.
 */
public final class RunWarnings {
    /** A job that waits no longer than this for its first GPUs does not wait. */
    private static final double NO_WAIT_SECONDS = 60;

    /** The part of demand beyond the GPUs up to which the objective can be met: its error budget. */
    private static final double TOLERATED_EXCESS = 0.001;
    /**
     * Demand that is beyond the GPUs for longer than this without a break is an alarm, however small the excess is. The
     * backlog never shrinks in that time: an excess of 0.1 % makes requests wait 0.9 s after 15 min, about as long as a
     * usual SLO, and from then on nearly all of them miss it. A shorter excess is a peak of few late requests.
     */
    private static final Duration LASTING = Duration.ofMinutes(15);
    /** A peak of so many times the GPUs is more often a wrong scale than a small cluster. */
    private static final int SUSPICIOUS_TIMES = 2;

    private RunWarnings() {}

    /** Demand beyond the inference GPUs: an alarm only where it is more than the error budget, or lasts. */
    public static Optional<RunWarning> overload(InferenceNeed need) {
        if (!need.exceeds()) {
            return Optional.empty();
        }
        RunWarning.Level level = isBeyondBudget(need) || isLasting(need)
                ? RunWarning.Level.ALARM
                : need.wholeExcessShare() > TOLERATED_EXCESS ? RunWarning.Level.WARNING : RunWarning.Level.NOTE;
        return Optional.of(new RunWarning(
                level,
                "demand-beyond-gpus",
                "services need up to %s%s, %s (from %s to %s, %s in all): %s%s"
                        .formatted(
                                Text.plural(need.peak(), "GPU"),
                                need.hasGroups() ? " in whole replicas" : "",
                                need.gpus() == 1
                                        ? "1 inference GPU exists"
                                        : Text.number((long) need.gpus()) + " inference GPUs exist",
                                Text.minute(need.from()),
                                Text.minute(need.to()),
                                Text.duration(need.length().toMillis() / 1000.0),
                                overload(need, level),
                                need.onBestKinds()
                                        ? " Counted are GPUs of all kinds, and replicas on the kind where each answers most."
                                        : "")));
    }

    private static boolean isBeyondBudget(InferenceNeed need) {
        return need.excessShare() > TOLERATED_EXCESS;
    }

    private static boolean isLasting(InferenceNeed need) {
        return need.longestExcess().compareTo(LASTING) > 0;
    }

    /** What demand beyond the GPUs means. */
    private static String overload(InferenceNeed need, RunWarning.Level level) {
        return switch (level) {
            case ALARM -> alarm(need);
            case WARNING ->
                "%s%s of the GPU time they need is beyond those: %s."
                        .formatted(
                                need.services() > 1 ? "services cannot share a GPU, and " : "",
                                Text.percent(need.wholeExcessShare()),
                                waits(need, "some requests will wait"));
            case NOTE ->
                "%s of the GPU time they need is beyond those: %s."
                        .formatted(Text.percent(need.wholeExcessShare()), waits(need, "few requests will wait"));
        };
    }

    private static String alarm(InferenceNeed need) {
        if (!isBeyondBudget(need)) {
            return "demand is beyond them for %s without a break (%s of all demand): the backlog grows all that time, so requests miss the SLO until it is worked off."
                    .formatted(
                            Text.duration(need.longestExcess().toMillis() / 1000.0), Text.percent(need.excessShare()));
        }
        return "%s of demand is beyond them, so no policy can meet the SLO.%s"
                .formatted(
                        Text.percent(need.excessShare()),
                        need.peak() >= (long) SUSPICIOUS_TIMES * need.gpus()
                                ? " Is a scale per minute taken as per second?"
                                : "");
    }

    /** What requests do; a wait is short only if the services would fit if they could share GPUs. */
    private static String waits(InferenceNeed need, String brief) {
        return need.queuesUp() ? "requests queue up while demand exceeds the GPUs" : brief;
    }

    /** An attainment below the objective, or so low that it is an alarm. */
    public static Optional<RunWarning> slo(ReportedRun run) {
        Optional<Double> attainment = run.inference().sloAttainment();
        if (attainment.isEmpty()) {
            return Optional.empty();
        }
        RunWarning.Level level = SloObjective.level(attainment.get());
        if (level == RunWarning.Level.NOTE) {
            return Optional.empty();
        }
        boolean alarm = level == RunWarning.Level.ALARM;
        return Optional.of(new RunWarning(
                level,
                alarm ? "slo-alarm" : "slo-below-objective",
                "%s: %s of the requests within their SLO, below %s; %s of the error budget of %s%s."
                        .formatted(
                                run.name(),
                                Text.percent(attainment.get()),
                                alarm ? Text.plain(100 * SloObjective.ALARM_BELOW) + " %" : SloObjective.written(),
                                Standings.budget(run.inference()).replace(" used", ""),
                                SloObjective.written(),
                                run.inference()
                                        .worstService()
                                        .map(worst -> "; worst service %s with %s"
                                                .formatted(worst.service(), Text.percent(worst.attainment())))
                                        .orElse(""))));
    }

    /** A cluster that is never full: comparisons on it are noise. */
    public static Optional<RunWarning> neverFull(List<ReportedRun> runs, References references) {
        boolean noWait = references
                .baseline()
                .training()
                .longestWaitSeconds()
                .filter(wait -> wait <= NO_WAIT_SECONDS)
                .isPresent();
        boolean alike = isSmall(references.possibleGain())
                && runs.stream().allMatch(run -> isSmall(references.gain(run.training())));
        return noWait && alike
                ? Optional.of(
                        new RunWarning(
                                RunWarning.Level.WARNING,
                                "cluster-never-full",
                                "training never waits: all policies give the same result, and the differences are noise. Replay on fewer GPUs, or with more jobs, to compare policies."))
                : Optional.empty();
    }

    private static boolean isSmall(Optional<Double> gain) {
        return gain.filter(each -> Math.abs(each) < References.LEAST_POSSIBLE_GAIN)
                .isPresent();
    }

    /**
     * The warning of an experimental policy.
     *
     * @param policy its name, with or without settings
     */
    public static Optional<RunWarning> policy(String policy) {
        return Policies.all().stream()
                .map(Policy::info)
                .filter(each -> policy.equals(each.name()) || policy.startsWith(each.name() + ":"))
                .findFirst()
                .flatMap(PolicyInfo::warning)
                .map(text -> new RunWarning(RunWarning.Level.WARNING, "policy-experimental", text));
    }
}
