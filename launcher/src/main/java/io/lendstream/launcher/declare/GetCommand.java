package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.Event;
import io.lendstream.core.id.JobId;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.launcher.declare.DeclaredTopics.Written;
import io.lendstream.launcher.operation.ObjectStates;
import io.lendstream.service.settings.Nearest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lendstream get}. */
@Command(
        name = "get",
        description = {
            "Show declared services, training jobs, queues and settings of domains.",
            "YAML and JSON are in the form that 'lendstream apply' reads, without defaults, and with the state in 'status', which apply leaves out.",
            "STATE of a job: queued, starting, running, rescaling, paused, leaving, finished, failed or cancelled; of a service: its replicas.",
            "Ended jobs are shown until they are deleted. An object that is being deleted is shown as 'deleting' until its GPUs are released."
        },
        footer = {"Example: lendstream get services", "         lendstream get job bert-1 -o yaml"})
public final class GetCommand extends ClusterCommand {
    private static final String NOTHING = "nothing is declared; declare objects with 'lendstream apply -f FILE'.";
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
        ObjectStates states = states(selection, topics);
        if (!json() && (form.equals("table") || form.equals("wide"))) {
            Instant now = Instant.now();
            List<String> lines = new ArrayList<>();
            selection.kinds().forEach(each -> table(each, selection, topics, states, now, lines));
            if (lines.isEmpty()) {
                remark(NOTHING);
            }
            print(lines);
            return 0;
        }
        List<ObjectNode> objects = new ArrayList<>();
        selection.kinds().forEach(each -> objects.addAll(written(each, selection, topics, states)));
        if (objects.isEmpty()) {
            remark(NOTHING);
        }
        if (!json() && form.equals("yaml")) {
            print(ObjectText.yaml(objects));
        } else {
            print(selection.name().isPresent() ? objects.get(0) : ObjectText.list(objects));
        }
        return 0;
    }

    private <T extends Event> void table(
            DeclaredKind<T> each,
            ObjectSelection selection,
            DeclaredTopics topics,
            ObjectStates states,
            Instant now,
            List<String> to) {
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
        List<Optional<String>> shown =
                objects.stream().map(object -> state(each, object, states)).toList();
        to.addAll(ObjectTable.lines(each, objects, shown, form.equals("wide"), now));
    }

    /** Reads the states of the selected jobs and services; nothing if there are none. */
    private ObjectStates states(ObjectSelection selection, DeclaredTopics topics) {
        Map<JobId, Instant> jobs = new HashMap<>();
        boolean hasStates = false;
        if (selection.kinds().contains(DeclaredKinds.JOB)) {
            selection
                    .of(DeclaredKinds.JOB, topics)
                    .forEach(job -> jobs.put(job.value().job(), job.written()));
            hasStates = !jobs.isEmpty();
        }
        if (selection.kinds().contains(DeclaredKinds.SERVICE)) {
            hasStates |= !selection.of(DeclaredKinds.SERVICE, topics).isEmpty();
        }
        return hasStates ? ObjectStates.read(topics.cluster(), jobs, this::remark) : ObjectStates.NONE;
    }

    private static <T extends Event> Optional<String> state(
            DeclaredKind<T> each, Written<T> object, ObjectStates states) {
        return each.isRemoved(object.value()) ? Optional.of(ObjectStates.DELETING) : states.of(object.value());
    }

    private static <T extends Event> List<ObjectNode> written(
            DeclaredKind<T> each, ObjectSelection selection, DeclaredTopics topics, ObjectStates states) {
        return selection.of(each, topics).stream()
                .map(object -> each.write(object.value(), state(each, object, states)))
                .toList();
    }
}
