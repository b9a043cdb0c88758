package io.lendstream.launcher.declare;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.QueueId;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.launcher.declare.DeclaredTopics.Written;
import io.lendstream.launcher.operation.ObjectRemoval;
import io.lendstream.launcher.operation.ReplicaOrigins;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lendstream delete}. */
@Command(
        name = "delete",
        description = {
            "Delete a training job, a service, a queue or the settings of a domain.",
            "A job is cancelled, the replicas of a service are drained and stopped. The command waits until the GPUs are released.",
            "A queue is deleted when no declared job or service names it.",
            "A domain without settings of its own has those of the configuration.",
            "The name of a job can be used again 24 hours later: until then the scheduler knows the job as ended."
        },
        footer = {"Example: lendstream delete job bert-1", "         lendstream delete service/chat --timeout 5m"})
public final class DeleteCommand extends ClusterCommand {
    private static final int MOST_NAMES = 10;

    @Parameters(
            index = "0",
            paramLabel = "KIND",
            description = "job, service, queue or domainsettings; also KIND/NAME.")
    private String kind = "";

    @Parameters(index = "1", arity = "0..1", paramLabel = "NAME", description = "The object.")
    private String name = "";

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            defaultValue = "2m",
            description = {"How long to wait for the release of its GPUs.", "Default: ${DEFAULT-VALUE}."})
    private String timeout = "2m";

    @Option(
            names = "--stop",
            description =
                    "For a service: stop also replicas that ran before Lendstream and were taken over, or may have been.")
    private boolean stop;

    @Override
    public Integer call() {
        ObjectSelection selection = ObjectSelection.of(kind, name);
        DeclaredKind<?> of = selection.kinds().get(0);
        if (selection.name().isEmpty()) {
            throw UserError.badUsage("NAME is missing; 'lendstream get %s' lists the names.".formatted(of.word()));
        }
        Duration limit = Units.duration(timeout)
                .orElseThrow(() -> UserError.badUsage(
                        "--timeout is '%s', but must be a length of time such as 2m.".formatted(timeout)));
        List<DeclaredKind<?>> needed = of.equals(DeclaredKinds.QUEUE)
                ? List.of(DeclaredKinds.SERVICE, DeclaredKinds.JOB, DeclaredKinds.QUEUE)
                : List.of(of);
        DeclaredTopics topics = DeclaredTopics.read(cluster(), needed, this::remark);
        removal(selection, of, topics).run(limit);
        print(List.of(of.shown(selection.name().get()) + " deleted"));
        return 0;
    }

    private ObjectRemoval removal(ObjectSelection selection, DeclaredKind<?> of, DeclaredTopics topics) {
        if (of.equals(DeclaredKinds.SERVICE)) {
            InferenceService service = written(selection, DeclaredKinds.SERVICE, topics);
            checkStop(service, topics);
            return ObjectRemoval.of(service, topics.cluster(), this::remark);
        }
        if (of.equals(DeclaredKinds.QUEUE)) {
            ClusterQueue queue = written(selection, DeclaredKinds.QUEUE, topics);
            checkUnused(queue, topics);
            return ObjectRemoval.of(queue, topics.cluster(), this::remark);
        }
        if (of.equals(DeclaredKinds.DOMAIN_SETTINGS)) {
            return ObjectRemoval.of(
                    written(selection, DeclaredKinds.DOMAIN_SETTINGS, topics), topics.cluster(), this::remark);
        }
        TrainingJob job = written(selection, DeclaredKinds.JOB, topics);
        return ObjectRemoval.of(job, topics.cluster(), this::remark);
    }

    private static <T extends Event> T written(ObjectSelection selection, DeclaredKind<T> of, DeclaredTopics topics) {
        Written<T> object = selection
                .name()
                .flatMap(given -> topics.find(of, given))
                .orElseGet(() -> selection.of(of, topics).get(0));
        String target = topics.cluster().topics().target(of.topic());
        if (!object.isIn(target)) {
            throw UserError.failed(
                    "%s was written to topic %s, but this command writes to %s. Set the intake of its writers with --set intake=NAME."
                            .formatted(
                                    of.shown(of.nameOf(object.value())),
                                    object.origin().topic(),
                                    target));
        }
        return object.value();
    }

    /** What ran before Lendstream is not stopped by mistake: other systems may need it. */
    private void checkStop(InferenceService service, DeclaredTopics topics) {
        if (!stop && !service.removed()) {
            ReplicaOrigins.read(topics.cluster(), service, this::remark)
                    .againstStop()
                    .ifPresent(why -> {
                        throw UserError.failed(why);
                    });
        }
    }

    private void checkUnused(ClusterQueue queue, DeclaredTopics topics) {
        List<String> users = new ArrayList<>(users(DeclaredKinds.SERVICE, queue, topics));
        users.addAll(users(DeclaredKinds.JOB, queue, topics));
        if (!users.isEmpty()) {
            throw UserError.failed(
                    "queue/%s is named by %s. Delete them, or apply them with another queue, and run the command again."
                            .formatted(queue.queue(), some(users)));
        }
        if (!topics.seesAll()) {
            remark(
                    "WARNING: only jobs and services of this intake are checked. Others that name queue %s will have no quota."
                            .formatted(queue.queue()));
        }
    }

    private static <T extends Event> List<String> users(DeclaredKind<T> of, ClusterQueue queue, DeclaredTopics topics) {
        QueueId name = queue.queue();
        return topics.newest(of).values().stream()
                .map(Written::value)
                .filter(value -> value.domain().equals(queue.domain()))
                .filter(value -> of.queueOf(value).filter(name::equals).isPresent())
                .map(value -> of.shown(of.nameOf(value)))
                .toList();
    }

    private static String some(List<String> names) {
        String first = String.join(", ", names.subList(0, Math.min(MOST_NAMES, names.size())));
        return names.size() > MOST_NAMES ? "%s and %d more".formatted(first, names.size() - MOST_NAMES) : first;
    }
}
