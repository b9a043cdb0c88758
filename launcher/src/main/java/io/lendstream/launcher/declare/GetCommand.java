package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.Event;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.launcher.declare.DeclaredTopics.Written;
import io.lendstream.service.settings.Nearest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lendstream get}. */
@Command(
        name = "get",
        description = {
            "Show declared services, training jobs, queues and settings of domains.",
            "YAML and JSON are in the form that 'lendstream apply' reads, without defaults. Ended jobs are shown until they are deleted."
        },
        footer = {"Example: lendstream get services", "         lendstream get job bert-1 -o yaml"})
public final class GetCommand extends ClusterCommand {
    private static final List<String> FORMS = List.of("table", "wide", "json", "yaml");

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "KIND",
            description = {"service, job, queue or domainsettings; also KIND/NAME.", "Default: all kinds."})
    private String kind = "";

    @Parameters(index = "1", arity = "0..1", paramLabel = "NAME", description = "One object. Default: all.")
    private String name = "";

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORM",
            description = {"table, wide (more columns), json or yaml.", "Default: table."})
    private String form = "table";

    @Override
    public Integer call() {
        if (!FORMS.contains(form)) {
            throw UserError.badUsage("-o is '%s', but must be %s.".formatted(form, Nearest.listed(FORMS)));
        }
        ObjectSelection selection = ObjectSelection.of(kind, name);
        DeclaredTopics topics = DeclaredTopics.read(cluster(), selection.kinds(), this::remark);
        if (!json() && (form.equals("table") || form.equals("wide"))) {
            Instant now = Instant.now();
            List<String> lines = new ArrayList<>();
            selection.kinds().forEach(each -> table(each, selection, topics, now, lines));
            if (lines.isEmpty()) {
                remark("nothing is declared; declare objects with 'lendstream apply -f FILE'.");
            }
            print(lines);
            return 0;
        }
        List<ObjectNode> objects = new ArrayList<>();
        selection.kinds().forEach(each -> objects.addAll(written(each, selection, topics)));
        if (!json() && form.equals("yaml")) {
            print(ObjectText.yaml(objects));
        } else {
            print(selection.name().isPresent() ? objects.get(0) : ObjectText.list(objects));
        }
        return 0;
    }

    private <T extends Event> void table(
            DeclaredKind<T> each, ObjectSelection selection, DeclaredTopics topics, Instant now, List<String> to) {
        List<Written<T>> objects = selection.of(each, topics);
        if (objects.isEmpty()) {
            return;
        }
        boolean isOneOfSeveral = selection.kinds().size() > 1;
        if (isOneOfSeveral) {
            if (!to.isEmpty()) {
                to.add("");
            }
            to.add(each.word() + "s:");
        }
        to.addAll(ObjectTable.lines(each, objects, form.equals("wide"), now));
    }

    private static <T extends Event> List<ObjectNode> written(
            DeclaredKind<T> each, ObjectSelection selection, DeclaredTopics topics) {
        return selection.of(each, topics).stream()
                .map(object -> each.write(object.value()))
                .toList();
    }
}
