package io.lendstream.launcher.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.history.Verdict;
import io.lendstream.stack.Installation;
import io.lendstream.stack.ServiceKind;
import io.lendstream.stack.Stack;
import io.lendstream.stack.StackSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A broker and a registry on which sites are tried one after the other, and what holds of each of them. */
final class Ordeals implements AutoCloseable {
    /** The property by which {@code ./dev faults} asks for what takes minutes. */
    static final String ALL = "faults.all";

    static final String WHY = "takes minutes: ./dev faults does it";

    private final long seed = Long.getLong("faults.seed", 1);
    private final FailureTimeouts surroundings = FailureTimeouts.named(System.getProperty("faults.broker", "quick"));
    private final Stack stack = Stack.start(
            StackSettings.defaults().withBroker(surroundings.broker(), Map.of()), Installation.find(), line -> {});

    private static final int LINES_OF_A_FAILURE = 60;

    /** What is done to a site that works. */
    interface Trial {
        void run(Site site, Watch watch, Traffic traffic, Instance actuator) throws Exception;
    }

    /**
     * A site as it is before something is done to it.
     *
     * @param name of its topics and files
     * @param kafka where its broker is; the usual one where that is not said
     * @param disorder of its telemetry
     * @param scheduler the settings of its schedulers, which replace common ones of the same name
     * @param actuator additional settings of its actuator
     * @param program what is started as its schedulers at first; the scheduler itself where that is not said
     * @param environments variables of its services beside those of the tests
     */
    record Setup(
            String name,
            Optional<Site.Kafka> kafka,
            Traffic.Disorder disorder,
            List<String> scheduler,
            List<String> actuator,
            Optional<String> program,
            Map<ServiceKind, Map<String, String>> environments) {
        static Setup named(String name) {
            return new Setup(
                    name, Optional.empty(), Traffic.Disorder.NONE, List.of(), List.of(), Optional.empty(), Map.of());
        }

        Setup on(Site.Kafka other) {
            return new Setup(name, Optional.of(other), disorder, scheduler, actuator, program, environments);
        }

        Setup with(Traffic.Disorder other) {
            return new Setup(name, kafka, other, scheduler, actuator, program, environments);
        }

        Setup withScheduler(String... settings) {
            return new Setup(name, kafka, disorder, List.of(settings), actuator, program, environments);
        }

        Setup withActuator(String... settings) {
            return new Setup(name, kafka, disorder, scheduler, List.of(settings), program, environments);
        }

        Setup upgradedFrom(String older) {
            return new Setup(name, kafka, disorder, scheduler, actuator, Optional.of(older), environments);
        }

        Setup withEnvironment(ServiceKind service, Map<String, String> variables) {
            Map<ServiceKind, Map<String, String>> more = new HashMap<>(environments);
            more.put(service, variables);
            return new Setup(name, kafka, disorder, scheduler, actuator, program, Map.copyOf(more));
        }
    }

    long seed() {
        return seed;
    }

    FailureTimeouts surroundings() {
        return surroundings;
    }

    Installation installation() {
        return stack.installation();
    }

    /** A process of the broker or the registry. */
    long pidOf(String child) {
        return stack.children().stream()
                .filter(running -> running.name().equals(child))
                .findFirst()
                .orElseThrow()
                .pid();
    }

    /** Does something to a site, and judges it: it kept every promise. By then the site lends and takes back. */
    Verdict endure(Path directory, Setup setup, Trial trial) throws Exception {
        Site.Kafka kafka = setup.kafka().orElseGet(() -> Site.Kafka.at(stack.bootstrapServers(), 1));
        List<String> scheduler = new ArrayList<>(surroundings.scheduler());
        scheduler.addAll(setup.scheduler());
        try (Site site = new Site(stack, kafka, setup.name(), directory, scheduler, setup.program())) {
            setup.environments().forEach(site::environment);
            Instance first = site.startScheduler(kafka.firstScheduler());
            Site.awaitReady(first);
            Instance second = site.startScheduler();
            Instance actuator = site.startActuator(setup.actuator().toArray(String[]::new));
            Site.awaitReady(second, actuator);
            try (Watch watch = new Watch(site)) {
                try (Traffic traffic = Traffic.start(site, seed, setup.disorder())) {
                    awaitDecisions(watch, 20);
                    awaitLoans(site);
                    trial.run(site, watch, traffic, actuator);
                } catch (Exception | AssertionError e) {
                    site.printLogs(LINES_OF_A_FAILURE);
                    throw e;
                }
                Verdict verdict = site.awaitCleanHistory();
                Map<String, Long> kinds = site.kinds();
                System.out.printf(
                        "%s: %d events, %d decisions %s, %d reports, epoch %d: every promise was kept%n",
                        setup.name(), verdict.events(), verdict.decisions(), kinds, verdict.reports(), watch.epoch());
                assertThat(site.decisions())
                        .extracting((Decision decision) -> decision.id().epoch())
                        .as("no decision of an old epoch follows one of a newer")
                        .isSorted();
                return verdict;
            }
        }
    }

    /** Waits until GPUs have been lent and taken back. */
    private static void awaitLoans(Site site) {
        await().atMost(Site.PATIENCE)
                .pollInterval(Duration.ofSeconds(1))
                .until(() -> site.kinds().keySet().containsAll(List.of("lend", "reclaim")));
    }

    /** Waits until that many more decisions are committed; returns how long it took, in seconds. */
    static double awaitDecisions(Watch watch, int more) {
        long since = System.nanoTime();
        int before = watch.decisions();
        await().atMost(Site.PATIENCE).until(() -> watch.decisions() >= before + more);
        return (System.nanoTime() - since) / 1e9;
    }

    /** Waits for the first decision of a later epoch; returns how long after a moment it came, in seconds. */
    static double awaitTakeover(Watch watch, long epoch, long since) {
        await().atMost(Site.PATIENCE)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> watch.firstAfter(epoch).isPresent());
        return (watch.firstAfter(epoch).orElseThrow() - since) / 1e9;
    }

    /** Resets GPUs that are out of service. */
    static void repair(Watch watch, Traffic traffic) {
        if (!watch.quarantined().isEmpty()) {
            traffic.reset(watch.quarantined());
        }
    }

    @Override
    public void close() {
        stack.close();
    }
}
