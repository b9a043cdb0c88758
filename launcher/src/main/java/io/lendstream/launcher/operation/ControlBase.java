package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.ControlCommand.Kind;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.launcher.operation.ControlOrder.Answer;
import io.lendstream.launcher.operation.ControlOrder.NotTaken;
import io.lendstream.launcher.operation.ControlOrder.Taken;
import io.lendstream.schemas.topics.DomainIntake;
import io.lendstream.schemas.topics.Intakes;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import picocli.CommandLine.Option;

/** A command to a scheduler: it is written, awaited in the log, and shown with the decisions that followed. */
abstract class ControlBase extends ClusterCommand {
    @Option(names = "--reason", paramLabel = "TEXT", description = "The reason, kept in the log.")
    private String reason = "";

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            defaultValue = "15s",
            description = {"How long to wait for the scheduler to take the command.", "Default: ${DEFAULT-VALUE}."})
    private String timeout = "15s";

    @Option(
            names = "--as",
            paramLabel = "GROUP",
            description = {
                "The group of operators whose topic carries the command, so that 'explain' can show the group.",
                "Default: the setting intake, or the common topic of all operators."
            })
    private Optional<String> group = Optional.empty();

    /** Rejects names that no record may have, before any connection. */
    abstract void checkNames();

    abstract List<ControlCommand> commands(TopicScan reading, Instant now);

    /** The new state after the command was taken. */
    abstract String done();

    /** Whether the command had its effect. */
    boolean isFollowed(Taken taken) {
        return true;
    }

    ControlCommand command(DomainId domain, Instant now, Kind kind, Optional<DecisionId> decision, List<GpuId> gpus) {
        String issuer = System.getProperty("user.name", "unknown");
        String id = "command-" + UUID.randomUUID();
        return new ControlCommand(domain, id, now, issuer, kind, decision, gpus, reason);
    }

    @Override
    public Integer call() {
        checkNames();
        Duration patience = Units.duration(timeout)
                .orElseThrow(() -> UserError.badUsage(
                        "--timeout is '%s', but must be a length of time such as 15s.".formatted(timeout)));
        Cluster cluster = cluster();
        Optional<String> ordersAs = group(cluster);
        Connection.check(
                cluster.kafka(),
                cluster.topics().writingFor(ordersAs),
                List.of(TopicCatalogue.CONTROL, TopicCatalogue.DOMAIN_EVENTS, TopicCatalogue.DECISIONS),
                cluster.patience());
        var reading = new TopicScan(cluster, this::remark);
        var order = new ControlOrder(cluster, reading, patience, ordersAs);
        boolean followed = true;
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        GpuNames names = json() ? new GpuNames() : reading.gpuNames();
        List<ControlCommand> commands = commands(reading, reading.now());
        checkRights(cluster, commands);
        for (Answer answer : order.give(commands)) {
            if (answer instanceof NotTaken silent) {
                followed = false;
                all.add(json(silent.command()).put("followed", false).put("why", silent.why()));
                remark(silent.why());
            } else if (answer instanceof Taken taken) {
                followed &= isFollowed(taken);
                all.add(json(taken));
                if (!json()) {
                    print(names.in(lines(taken)));
                }
            }
        }
        if (json()) {
            print(all);
        }
        return followed ? 0 : 1;
    }

    /** Rejects orders that the group of this command may not give. */
    void checkRights(Cluster cluster, List<ControlCommand> commands) {
        group(cluster)
                .flatMap(cluster.topics().intakes()::find)
                .ifPresent(intake -> commands.forEach(command -> mayOrder(intake, command.domain())));
    }

    private Optional<String> group(Cluster cluster) {
        Optional<String> chosen = group.or(() -> cluster.settings().get(CommonKeys.INTAKE));
        Intakes intakes = cluster.topics().intakes();
        chosen.ifPresent(name -> {
            try {
                DomainIntake.check(name);
            } catch (IllegalArgumentException e) {
                throw UserError.badUsage("--as is '%s': %s.".formatted(name, e.getMessage()));
            }
            if (!intakes.isEmpty() && intakes.find(name).isEmpty()) {
                throw UserError.badUsage(
                        "--as is '%s', but the setting intakes has only %s.".formatted(name, intakes.names()));
            }
        });
        return chosen;
    }

    /** Rejects a domain that the group may not order, as the scheduler would. */
    private static void mayOrder(DomainIntake intake, DomainId domain) {
        if (!intake.covers(domain)) {
            throw UserError.failed(
                    "group %s may order only domains %s, not %s; name one of them with --domain, or order as another group."
                            .formatted(intake.name(), intake.domainList(), domain));
        }
    }

    private List<String> lines(Taken taken) {
        var lines = new ArrayList<String>();
        lines.add("domain %s: %s (event %d)"
                .formatted(
                        taken.event().domain(),
                        isFollowed(taken) ? done() : "the command had no effect",
                        taken.event().sequence()));
        for (Decision decision : taken.decisions()) {
            lines.add("  %s: %s".formatted(decision.id(), EventText.of(decision)));
        }
        return lines;
    }

    private ObjectNode json(Taken taken) {
        ObjectNode json = json(taken.event().event().asCommand().orElseThrow());
        json.put("event", taken.event().sequence()).put("followed", isFollowed(taken));
        ArrayNode decisions = json.putArray("decisions");
        taken.decisions().forEach(decision -> decisions.add(Explained.json(decision)));
        return json;
    }

    private static ObjectNode json(ControlCommand command) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("domain", command.domain().value())
                .put("command", command.id())
                .put("kind", EventText.lower(command.kind()))
                .put("at", command.at().toString());
    }
}
