package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.lendstream.core.event.ServiceName;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.launcher.cluster.ClusterCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code lendstream doctor}. */
@Command(
        name = "doctor",
        description = {
            "Check a deployment: broker, registry, topics, schemas, clocks, and whether every service is alive.",
            "It also names what is declared but cannot work: kinds that the domain does not have, tenants without a quota, "
                    + "quotas that no GPU counts in, nodes that two actuators claim (scopes), and services with replicas of several GPUs "
                    + "in domains whose actuators have not described themselves.",
            "With the --config of an actuator it also checks this machine for the needs of its driver.",
            "Prints a line for each check: ok, warn or FAIL, the finding and the remedy. Exits with 1 on any FAIL.",
            "To compare clocks it creates a topic with one record and deletes it again."
        },
        footer = {"Example: lendstream doctor --config /etc/lendstream/actuator.properties"})
public final class DoctorCommand extends ClusterCommand {
    @Option(
            names = "--application-id",
            paramLabel = "NAME",
            description = {
                "The setting scheduler.application-id of the scheduler.",
                "Default: the topic prefix and 'scheduler'."
            })
    private Optional<String> applicationId = Optional.empty();

    @Override
    public Integer call() {
        List<Finding> findings = new ArrayList<>();
        Cluster cluster = cluster();
        found(findings, Diagnosis.java(Runtime.version().feature(), "Java " + Runtime.version()));
        config().map(file -> new DriverChecks(file, finding -> found(findings, finding)))
                .filter(DriverChecks::concernsUs)
                .ifPresent(checks -> {
                    checks.run();
                    checks.withStandby()
                            .ifPresent(actuator -> found(findings, new StandbyCheck(cluster, actuator).finding()));
                });
        String group = applicationId.orElse(cluster.topics().prefix() + ServiceName.SCHEDULER);
        new ClusterChecks(cluster, new TopicScan(cluster, this::remark), group, finding -> found(findings, finding))
                .run();
        if (json()) {
            ArrayNode all = JsonNodeFactory.instance.arrayNode();
            findings.forEach(finding -> all.add(finding.json()));
            print(all);
        }
        return findings.stream().anyMatch(Finding::isFailure) ? 1 : 0;
    }

    private void found(List<Finding> findings, Finding finding) {
        findings.add(finding);
        if (!json()) {
            print(List.of(finding.line()));
        }
    }
}
