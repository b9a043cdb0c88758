package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.Event;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.launcher.declare.DeclaredTopics.Written;
import io.lendstream.launcher.operation.ShownState;
import io.lendstream.service.kafka.UnreachableException;
import io.lendstream.service.text.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code lendstream describe}. */
@Command(
        name = "describe",
        description = {
            "Describe one service, training job or queue, or the settings of a domain: declaration, time and state.",
            "The state is that of 'lendstream top', with the GPUs that the object holds."
        },
        footer = {"Example: lendstream describe service chat", "         lendstream describe job/bert-1 --json"})
public final class DescribeCommand extends ClusterCommand {
    /** Of an object whose declaration is ended, and whose record is not removed yet. */
    private static final String DELETED =
            ", being deleted: its end is ordered, and 'lendstream delete' has not seen its GPUs released";

    @Parameters(
            index = "0",
            paramLabel = "KIND",
            description = "service, job, queue or domainsettings; also KIND/NAME.")
    private String kind = "";

    @Parameters(index = "1", arity = "0..1", paramLabel = "NAME", description = "The object.")
    private String name = "";

    @Override
    public Integer call() {
        ObjectSelection selection = ObjectSelection.of(kind, name);
        if (selection.name().isEmpty()) {
            throw UserError.badUsage("NAME is missing; 'lendstream get %s' lists the names."
                    .formatted(selection.kinds().get(0).word()));
        }
        DeclaredTopics topics = DeclaredTopics.read(cluster(), selection.kinds(), this::remark);
        selection.kinds().forEach(each -> describe(each, selection, topics));
        return 0;
    }

    private <T extends Event> void describe(DeclaredKind<T> each, ObjectSelection selection, DeclaredTopics topics) {
        Written<T> object = selection.of(each, topics).get(0);
        Optional<List<String>> state = state(object.value());
        if (json()) {
            print(json(each, object, state));
            return;
        }
        List<String> lines = new ArrayList<>();
        lines.add("%s in domain %s%s"
                .formatted(
                        each.shown(each.nameOf(object.value())),
                        object.value().domain(),
                        each.isRemoved(object.value()) ? DELETED : ""));
        lines.add("written %s, topic %s, partition %d, offset %d"
                .formatted(
                        Times.at(object.written()),
                        object.origin().topic(),
                        object.origin().partition(),
                        object.origin().offset()));
        lines.add("");
        lines.add("DECLARATION");
        ObjectText.yaml(each.spec().write(object.value())).forEach(line -> lines.add("  " + line));
        state.ifPresent(known -> {
            lines.add("");
            lines.add("STATE");
            (known.isEmpty() ? List.of("not known yet") : known).forEach(line -> lines.add("  " + line));
        });
        print(lines);
    }

    /** The lines about an object; empty if the topics cannot be read. */
    private Optional<List<String>> state(Event value) {
        try {
            return Optional.of(ShownState.read(cluster(), this::remark).lines(value));
        } catch (UnreachableException e) {
            remark("the state is left out: " + e.getMessage());
            return Optional.empty();
        }
    }

    private static <T extends Event> ObjectNode json(
            DeclaredKind<T> each, Written<T> object, Optional<List<String>> state) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.set("declaration", each.write(object.value()));
        json.putObject("record")
                .put("topic", object.origin().topic())
                .put("partition", object.origin().partition())
                .put("offset", object.origin().offset())
                .put("written", object.written().toString());
        json.put("deleting", each.isRemoved(object.value()));
        state.ifPresent(lines -> {
            ArrayNode all = json.putArray("state");
            lines.forEach(all::add);
        });
        return json;
    }
}
