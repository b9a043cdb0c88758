package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** All services as processes, which go by the time of an accelerated run until GPUs were lent and taken back. */
final class AcceleratedLoop {
    private final Deployment deployment;
    private final Path directory;

    AcceleratedLoop(Deployment deployment, Path directory) {
        this.deployment = deployment;
        this.directory = directory;
    }

    /**
     * Plays, and sees from the topics that it went well.
     *
     * @param own settings of each service beside the usual
     * @return what each service printed; they have ended
     */
    Map<ServiceKind, String> play(Map<ServiceKind, String> own) throws Exception {
        Map<ServiceKind, Deployment.Running> services = new TreeMap<>();
        for (ServiceKind kind : ServiceKind.values()) {
            if (kind != ServiceKind.LOAD) {
                services.put(kind, start(kind, own));
            }
        }
        services.values().forEach(Deployment.Running::ready);

        Deployment.Running load =
                start(ServiceKind.LOAD, own, "--nodes", "4", "--training-nodes", "2", "--set", "load.stop-after=45s");

        await().atMost(Duration.ofMinutes(3)).until(() -> !load.process().isAlive());
        assertThat(load.exit()).as(load.printed()).isZero();
        List<Decision> decisions = deployment.read(TopicCatalogue.DECISIONS);
        assertThat(decisions).anyMatch(decision -> decision.action() instanceof Action.Lend);
        assertThat(decisions).anyMatch(decision -> decision.action() instanceof Action.Reclaim);
        assertThat(deployment.read(TopicCatalogue.DEMAND_FORECASTS)).isNotEmpty();
        services.forEach((kind, service) ->
                assertThat(service.process().isAlive()).as(service.printed()).isTrue());
        services.values().forEach(service -> service.process().destroy());
        var printed = new TreeMap<ServiceKind, String>();
        for (Map.Entry<ServiceKind, Deployment.Running> service : services.entrySet()) {
            assertThat(service.getValue().exit())
                    .as("%s ends when it is asked to", service.getKey())
                    .isNotNegative();
            printed.put(service.getKey(), service.getValue().printed());
        }
        return printed;
    }

    private Deployment.Running start(ServiceKind kind, Map<ServiceKind, String> own, String... more)
            throws IOException {
        Path config = Files.writeString(
                directory.resolve(kind.command() + ".properties"),
                own.getOrDefault(kind, "") + """

                time=virtual
                health.port=0
                connect-timeout=60s
                agent.backend=simulated
                agent.nodes=4
                agent.training-nodes=2
                agent.period=60s
                kafka.state.dir=%s
                """.formatted(directory.resolve("scheduler-state")));
        List<String> arguments = deployment.with(more);
        arguments.addAll(List.of("--config", config.toString()));
        return deployment.start(kind, directory.resolve(kind.command() + ".log"), arguments);
    }
}
