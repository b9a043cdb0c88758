package io.lendstream.simulator.replay;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.ClusterModel;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.core.simulated.SimulatedNodes;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The cluster and the conditions of a replay.
 *
 * @param policy name and settings of the policy ({@code name:key=value})
 * @param policyName the name of the run; usually the same
 * @param scheduler the other settings of decisions, lending and AFE included
 * @param layout the nodes there are
 * @param delays how long transfers take
 * @param abilities what the simulated driver can do; if it does not choose units, a device plugin picks them
 * @param outages when nodes are lost
 * @param resetAfter time from the quarantine of a GPU until an operator resets it; empty for never
 * @param samplePeriod how often nodes are sampled
 * @param keepsLog whether the log of domain events is kept, for the history checker
 * @param until when the replay is broken off; empty to play the workload to its end
 */
public record ReplaySettings(
        String policy,
        String policyName,
        SchedulerSettings scheduler,
        SimulatedNodes.Layout layout,
        SimulatedDelays delays,
        Abilities abilities,
        Outages outages,
        Optional<Duration> resetAfter,
        ForecastSettings forecast,
        Duration samplePeriod,
        boolean keepsLog,
        Optional<Instant> until) {
    /** The name of the baseline of all comparisons: {@code deepboot} with lending off. */
    public static final String NO_LENDING = "no-lending";

    /** A replay with usual timing. */
    public static ReplaySettings of(String policy, boolean lending, boolean afe, SimulatedNodes.Layout layout) {
        boolean none = policy.equals(NO_LENDING);
        return new ReplaySettings(
                none ? "deepboot" : policy,
                policy,
                SchedulerSettings.DEFAULTS
                        .withLending(lending && !none)
                        .withAfe(afe)
                        .withWaitingFirst(true)
                        .withModel(ClusterModel.KINDS.with(layout.labels())),
                layout,
                SimulatedDelays.realistic(),
                Abilities.USUAL,
                Outages.NONE,
                Optional.empty(),
                ForecastSettings.DEFAULT,
                Duration.ofSeconds(60),
                true,
                Optional.empty());
    }

    /** The same without a log in memory. */
    public ReplaySettings withoutLog() {
        return with(delays, outages, resetAfter, false, until);
    }

    /** The same, broken off at a time. */
    public ReplaySettings until(Instant end) {
        return with(delays, outages, resetAfter, keepsLog, Optional.of(end));
    }

    /** The same with nodes that are lost now and then. */
    public ReplaySettings withOutages(Outages other) {
        return with(delays, other, resetAfter, keepsLog, until);
    }

    /** The same with other timing, and with failures. */
    public ReplaySettings withDelays(SimulatedDelays other) {
        return with(other, outages, resetAfter, keepsLog, until);
    }

    /** The same with an operator who resets quarantined GPUs. */
    public ReplaySettings withResets(Duration after) {
        return with(delays, outages, Optional.of(after), keepsLog, until);
    }

    /** The same with a driver that can do less, or lends only whole nodes. */
    public ReplaySettings withAbilities(Abilities other) {
        return new ReplaySettings(
                policy,
                policyName,
                scheduler,
                layout,
                delays,
                other,
                outages,
                resetAfter,
                forecast,
                samplePeriod,
                keepsLog,
                until);
    }

    /** The same where measured start-up times and fits of earlier jobs count instead of declarations. */
    public ReplaySettings withLearn(boolean on) {
        return new ReplaySettings(
                policy,
                policyName,
                scheduler.withLearn(on),
                layout,
                delays,
                abilities,
                outages,
                resetAfter,
                forecast,
                samplePeriod,
                keepsLog,
                until);
    }

    private ReplaySettings with(
            SimulatedDelays otherDelays,
            Outages otherOutages,
            Optional<Duration> otherReset,
            boolean keeps,
            Optional<Instant> end) {
        return new ReplaySettings(
                policy,
                policyName,
                scheduler,
                layout,
                otherDelays,
                abilities,
                otherOutages,
                otherReset,
                forecast,
                samplePeriod,
                keeps,
                end);
    }

    /** Whether nodes are sampled: if no node is ever lost, and names are no slots, no decision depends on samples. */
    boolean samplesNodes() {
        return !outages.equals(Outages.NONE) || !abilities.choosesUnits();
    }

    DomainId domain() {
        return layout.domain();
    }
}
