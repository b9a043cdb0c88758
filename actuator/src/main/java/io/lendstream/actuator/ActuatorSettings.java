package io.lendstream.actuator;

import io.lendstream.core.actuation.Course;
import io.lendstream.core.actuation.DelayModel;
import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.simulated.SimulatedDriver;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What an actuator was told.
 *
 * @param name its name in reports; one that starts anew under the same name goes on where it stopped
 * @param domains the domains whose decisions it carries out; empty for all
 * @param stateDir where it keeps what it has done; without one it asks the topics when it starts
 * @param leaseNotice how long a job gets to leave a GPU whose lease has run out
 */
record ActuatorSettings(
        String name,
        List<DomainId> domains,
        Optional<Path> stateDir,
        Driver driver,
        Duration leaseNotice,
        DelayModel delays) {
    static final Key<String> NAME = Key.word(
            "actuator.name",
            "actuator",
            "Its name in reports; one that starts anew under the same name goes on where it stopped.");
    static final Key<List<String>> DOMAINS =
            Key.words("actuator.domains", "", "The domains whose decisions it carries out; nothing for all.");
    static final Key<Optional<Path>> STATE_DIR = Key.path(
                    "actuator.state-dir",
                    ".",
                    "Directory in which it keeps what it has done; without one it reads the topics from their beginning when it starts.")
            .optional();
    static final Key<Driver> DRIVER = Key.choice("actuator.driver", Driver.SIMULATED, "What carries decisions out.");
    static final Key<Duration> LEASE_NOTICE = Key.period(
            "actuator.lease-notice",
            "45s",
            "How long a job gets to leave a GPU whose lease ran out, before it is forced to.");
    static final Key<Boolean> PUBLISHED = Key.flag(
            "actuator.simulated.published-timing",
            false,
            "Delays as in DeepBoot's published simulator: GPUs change hands at once, and a job's pause starts anew with every change.");
    static final Key<Duration> AFE_RELEASE = Key.duration(
            "actuator.simulated.afe-release",
            "1s",
            "From an elastic job's shrink to the training step at whose end workers leave.");
    static final Key<Duration> RESTART_RELEASE = Key.duration(
            "actuator.simulated.restart-release", "4s", "From a job's restart to its old processes being gone.");
    static final Key<Duration> BIND =
            Key.duration("actuator.simulated.bind", "3s", "Until a job's process runs on a GPU that it gained.");
    static final Key<Duration> DRAIN =
            Key.duration("actuator.simulated.drain", "2s", "Until a replica that is to stop is gone.");
    static final Key<Double> JITTER = Key.decimal(
            "actuator.simulated.jitter", 0, 0.99, 0, "Fraction by which every delay may be longer or shorter.");
    static final Key<Double> STUCK = Key.fraction(
            "actuator.simulated.stuck-releases", 0, "Share of releases in which the tenant has to be killed.");
    static final Key<Double> FAILED =
            Key.fraction("actuator.simulated.failed-binds", 0, "Share of binds in which the tenant does not come up.");
    static final Key<Double> SILENCE =
            Key.fraction("actuator.simulated.silence", 0, "Share of decisions that are carried out without a report.");
    static final Key<Long> SEED = Key.number("actuator.simulated.seed", 0, "Seed of jitter and trouble.");

    static final List<Key<?>> KEYS = List.of(
            NAME,
            DOMAINS,
            STATE_DIR,
            DRIVER,
            LEASE_NOTICE,
            PUBLISHED,
            AFE_RELEASE,
            RESTART_RELEASE,
            BIND,
            DRAIN,
            JITTER,
            STUCK,
            FAILED,
            SILENCE,
            SEED);

    static ActuatorSettings of(Settings settings) {
        Driver driver = settings.get(DRIVER);
        String name = settings.get(NAME);
        return new ActuatorSettings(
                driver == Driver.DRY_RUN ? name + " (dry run)" : name,
                settings.get(DOMAINS).stream().map(DomainId::new).toList(),
                settings.get(STATE_DIR),
                driver,
                settings.get(LEASE_NOTICE),
                driver == Driver.DRY_RUN ? change -> Course.AT_ONCE : simulated(settings));
    }

    boolean covers(DomainId domain) {
        return domains.isEmpty() || domains.contains(domain);
    }

    private static SimulatedDriver simulated(Settings settings) {
        double stuck = settings.get(STUCK);
        double failed = settings.get(FAILED);
        double silence = settings.get(SILENCE);
        if (stuck + failed + silence > 1) {
            throw new SettingsException(
                    "%s, %s and %s are %s, %s and %s, more than 1 together. They are shares of the same decisions: lower one."
                            .formatted(STUCK.name(), FAILED.name(), SILENCE.name(), stuck, failed, silence));
        }
        SimulatedDriver plain = settings.get(PUBLISHED)
                ? SimulatedDriver.published()
                : new SimulatedDriver(
                        settings.get(AFE_RELEASE),
                        settings.get(RESTART_RELEASE),
                        settings.get(BIND),
                        settings.get(DRAIN),
                        true,
                        0,
                        SimulatedDriver.Trouble.NONE,
                        0);
        long seed = settings.get(SEED);
        return plain.withJitter(settings.get(JITTER), seed)
                .withTrouble(new SimulatedDriver.Trouble(stuck, failed, silence), seed);
    }
}
