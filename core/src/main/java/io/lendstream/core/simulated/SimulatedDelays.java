package io.lendstream.core.simulated;

import io.lendstream.core.afe.PauseCosts;
import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * The times that elastic training and model servers take to leave GPUs and to start on others.
 *
 * <p>Once AFE shrinks a job, the workers that leave are gone after {@code afeRelease} and the training step they are
 * in; a restart writes a checkpoint first. Newcomers need {@code bind}. The job trains again after what
 * {@link RescaleCosts} say; a change on top of one that is not over does not shorten it. A replica serves after its
 * service's warm-up time.
 *
 * @param afeRelease from an AFE shrink to the step at whose end workers leave; zero leaves the step out too
 * @param restartRelease from a restart to the last of the old processes being gone
 * @param bind until a job's process runs on a GPU that it gained
 * @param drain until a replica has answered what it had begun, and is gone
 * @param addsUp whether a job's change waits for the one before it; the published simulator replaces it instead
 * @param jitterFraction every part takes up to this fraction longer or shorter
 * @param failures how often things go wrong
 * @param seed of the jitter and the failures
 */
public record SimulatedDelays(
        Duration afeRelease,
        Duration restartRelease,
        Duration bind,
        Duration drain,
        boolean addsUp,
        double jitterFraction,
        FailureRates failures,
        long seed)
        implements DelayModel {
    private static final RescaleCosts USUAL = new RescaleCosts(Duration.ofSeconds(30), Duration.ofSeconds(3));
    private static final Duration USUAL_WARM_UP = Duration.ofSeconds(6);
    /** Release, bind and ready: a draw for each, and then one for what goes wrong. */
    private static final int TIMED_PARTS = 3;

    public SimulatedDelays {
        if (!(jitterFraction >= 0 && jitterFraction < 1)) {
            throw new IllegalArgumentException(
                    "jitterFraction must be at least 0 and below 1, but was " + jitterFraction);
        }
    }

    /**
     * Shares of changes that go wrong; together at most 1.
     *
     * @param stuckReleases the tenant has to be killed at the deadline
     * @param failedBinds the tenant does not come up
     * @param silence the change is never reported
     */
    public record FailureRates(double stuckReleases, double failedBinds, double silence) {
        public static final FailureRates NONE = new FailureRates(0, 0, 0);

        public FailureRates {
            if (!(stuckReleases >= 0 && failedBinds >= 0 && silence >= 0)
                    || stuckReleases + failedBinds + silence > 1) {
                throw new IllegalArgumentException(
                        "shares of failures must each be at least 0 and at most 1 together, but were %s, %s, %s"
                                .formatted(stuckReleases, failedBinds, silence));
            }
        }
    }

    /** The delays measured on real elastic training, without randomness. */
    public static SimulatedDelays realistic() {
        return new SimulatedDelays(
                Duration.ofSeconds(1),
                Duration.ofSeconds(4),
                Duration.ofSeconds(3),
                Duration.ofSeconds(2),
                true,
                0,
                FailureRates.NONE,
                0);
    }

    /**
     * The delays of DeepBoot's published simulator: GPUs change their owner at once, and every change restarts a job's
     * pause.
     *
     * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023</a>
     */
    public static SimulatedDelays published() {
        return new SimulatedDelays(
                Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ZERO, false, 0, FailureRates.NONE, 0);
    }

    public SimulatedDelays withJitter(double fraction, long otherSeed) {
        return new SimulatedDelays(afeRelease, restartRelease, bind, drain, addsUp, fraction, failures, otherSeed);
    }

    public SimulatedDelays withFailures(FailureRates other, long otherSeed) {
        return new SimulatedDelays(afeRelease, restartRelease, bind, drain, addsUp, jitterFraction, other, otherSeed);
    }

    @Override
    public ChangeTiming changeTiming(ChangeFacts facts) {
        if (facts.released().isEmpty() && facts.gained().isEmpty()) {
            return ChangeTiming.AT_ONCE;
        }
        ChangeTiming plain = facts.tenant().match(Tenant.Cases.of(job -> train(facts), service -> serve(facts)));
        if (jitterFraction == 0 && failures.equals(FailureRates.NONE)) {
            return plain;
        }
        SplittableRandom chance = chance(facts.decision(), facts.tenant());
        return new ChangeTiming(
                about(plain.release(), chance),
                about(plain.bind(), chance),
                about(plain.ready(), chance),
                pick(facts, chance.nextDouble()));
    }

    @Override
    public boolean isSilent(DecisionId decision, Tenant tenant) {
        if (failures.silence == 0) {
            return false;
        }
        SplittableRandom chance = chance(decision, tenant);
        for (int part = 0; part < TIMED_PARTS; part++) {
            chance.nextDouble();
        }
        return chance.nextDouble() < failures.silence;
    }

    private SplittableRandom chance(DecisionId decision, Tenant tenant) {
        return Chance.of(seed, decision, tenant);
    }

    private ChangeTiming train(ChangeFacts change) {
        boolean afe = change.mechanism() == Mechanism.AFE;
        RescaleCosts costs = change.job().map(job -> job.traits().costs()).orElse(USUAL);
        Optional<PauseCosts> pausing = costs.pausing();
        boolean pauses = change.mechanism() == Mechanism.PAUSE && pausing.isPresent() && change.after() == 0;
        if (pauses) {
            Duration pause = pausing.get().pause();
            return new ChangeTiming(pause, bind, pause, ChangeTiming.FailureMode.NONE);
        }
        Duration ready = resume(change, pausing).orElseGet(() -> costs.delay(change.before(), change.after(), afe));
        if (addsUp && change.after() > 0 && change.remaining().compareTo(ready) > 0) {
            ready = change.remaining();
        }
        Duration release =
                afe && !afeRelease.isZero() ? afeRelease.plus(step(change)) : afe ? afeRelease : restartRelease;
        return new ChangeTiming(
                change.released().isEmpty() ? Duration.ZERO : release, bind, ready, ChangeTiming.FailureMode.NONE);
    }

    /** How long a job in host memory does not train when it gets GPUs; empty if it is no such job. */
    private static Optional<Duration> resume(ChangeFacts change, Optional<PauseCosts> costs) {
        if (change.after() == 0 || change.before() > 0) {
            return Optional.empty();
        }
        return change.mechanism() == Mechanism.PAUSE
                ? costs.map(PauseCosts::resumeHere)
                : costs.filter(any -> change.paused()).map(PauseCosts::resumeElsewhere);
    }

    private ChangeTiming serve(ChangeFacts change) {
        if (change.gained().isEmpty()) {
            return new ChangeTiming(drain, Duration.ZERO, Duration.ZERO, ChangeTiming.FailureMode.NONE);
        }
        Duration warmUp = change.service().map(InferenceService::warmUp).orElse(USUAL_WARM_UP);
        return new ChangeTiming(Duration.ZERO, warmUp, warmUp, ChangeTiming.FailureMode.NONE);
    }

    /** How long the training step takes at whose end workers may leave; half a second for a job that is not known. */
    private static Duration step(ChangeFacts change) {
        double seconds = change.job().map(job -> stepSeconds(job, change)).orElse(0.5);
        return Duration.ofMillis(Math.round(1000 * Math.min(seconds, 60)));
    }

    private static double stepSeconds(TrainingJob job, ChangeFacts change) {
        int localBatch = change.localBatch() > 0
                ? change.localBatch()
                : Math.max(1, job.traits().batch().initial() / Math.max(1, change.before()));
        ThroughputParameters speed = job.traits().profile().throughput();
        return speed.alphaC() + speed.betaC() * localBatch + speed.alphaR();
    }

    private Duration about(Duration part, SplittableRandom chance) {
        double factor = 1 + jitterFraction * (2 * chance.nextDouble() - 1);
        return jitterFraction == 0 ? part : Duration.ofMillis(Math.round(part.toMillis() * factor));
    }

    private ChangeTiming.FailureMode pick(ChangeFacts facts, double draw) {
        if (draw < failures.silence) {
            return ChangeTiming.FailureMode.NONE;
        }
        if (draw < failures.silence + failures.stuckReleases) {
            return facts.released().isEmpty() ? ChangeTiming.FailureMode.NONE : ChangeTiming.FailureMode.STUCK_RELEASE;
        }
        if (draw < failures.silence + failures.stuckReleases + failures.failedBinds) {
            return facts.gained().isEmpty() ? ChangeTiming.FailureMode.NONE : ChangeTiming.FailureMode.BIND_FAILS;
        }
        return ChangeTiming.FailureMode.NONE;
    }
}
