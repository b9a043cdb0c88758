package io.lendstream.launcher.operation;

import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Connection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** The domains of a cluster, and the drivers of their actuators, before a job with a command is submitted. */
public final class CommandMachines {
    /** Drivers of actuators that can have jobs with commands; the simulated one has any job. */
    private static final Set<String> DRIVERS = Set.of("process", "simulated");

    private final SortedSet<DomainId> domains = new TreeSet<>();
    private final Map<String, ActuatorDescription> actuators = new TreeMap<>();

    /** @param progress receives a line every two seconds while topics are read */
    public CommandMachines(Cluster cluster, Consumer<String> progress) {
        Connection.check(
                cluster.kafka(),
                cluster.topics(),
                List.of(TopicCatalogue.NODES, TopicCatalogue.ACTUATORS),
                cluster.patience());
        TopicScan reading = new TopicScan(cluster, progress);
        reading.values(TopicCatalogue.NODES, node -> domains.add(node.domain()));
        reading.all(
                TopicCatalogue.ACTUATORS,
                received -> received.value()
                        .ifPresentOrElse(
                                actuator -> actuators.put(received.key(), actuator),
                                () -> actuators.remove(received.key())));
    }

    /**
     * Fails if a job with a command cannot run in a domain.
     *
     * @return a remark, if it cannot run yet
     */
    public Optional<String> check(DomainId domain) {
        if (!domains.contains(domain)) {
            throw UserError.failed("--domain is %s, but no agent has reported a node of it; %s."
                    .formatted(
                            domain,
                            domains.isEmpty()
                                    ? "start an agent ('lendstream doctor' checks the deployment)"
                                    : "domains with nodes: "
                                            + domains.stream()
                                                    .map(DomainId::value)
                                                    .collect(Collectors.joining(", "))));
        }
        SortedSet<String> drivers = new TreeSet<>();
        actuators.values().stream()
                .filter(actuator -> actuator.domain().equals(domain))
                .forEach(actuator -> drivers.add(actuator.driver()));
        if (drivers.isEmpty()) {
            return Optional.of("no actuator of domain %s has described itself: the job waits until one is started."
                    .formatted(domain));
        }
        if (drivers.stream().noneMatch(DRIVERS::contains)) {
            throw UserError.failed(
                    "no actuator of domain %s has driver process, which runs commands (drivers there: %s). Choose another --domain, or declare a job without a command ('lendstream apply')."
                            .formatted(domain, String.join(", ", drivers)));
        }
        return Optional.empty();
    }
}
