package io.lendstream.launcher.declare;

import io.lendstream.core.event.TrainingJob;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.launcher.declare.DeclaredTopics.Written;
import io.lendstream.launcher.operation.JobCancellation;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lendstream delete}. */
@Command(
        name = "delete",
        description = {
            "Cancel a training job, wait until its GPUs are released, and remove its declaration.",
            "Services and queues cannot be deleted: the scheduler keeps them for good.",
            "Its name can be used again 24 hours later: until then the scheduler knows the job as ended."
        },
        footer = "Example: lendstream delete job bert-1")
public final class DeleteCommand extends ClusterCommand {
    @Parameters(index = "0", paramLabel = "KIND", description = "job; also job/NAME.")
    private String kind = "";

    @Parameters(index = "1", arity = "0..1", paramLabel = "NAME", description = "The job.")
    private String name = "";

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            defaultValue = "2m",
            description = {"How long to wait for the release of its GPUs.", "Default: ${DEFAULT-VALUE}."})
    private String timeout = "2m";

    @Override
    public Integer call() {
        ObjectSelection selection = ObjectSelection.of(kind, name);
        checkKind(selection.kinds().get(0));
        if (selection.name().isEmpty()) {
            throw UserError.badUsage("NAME is missing; 'lendstream get job' lists the names.");
        }
        Duration limit = Units.duration(timeout)
                .orElseThrow(() -> UserError.badUsage(
                        "--timeout is '%s', but must be a length of time such as 2m.".formatted(timeout)));
        DeclaredTopics topics = DeclaredTopics.read(cluster(), List.of(DeclaredKinds.JOB), this::remark);
        Written<TrainingJob> job = selection.of(DeclaredKinds.JOB, topics).get(0);
        String shown = DeclaredKinds.JOB.shown(job.value().job().value());
        String target = topics.cluster().topics().target(DeclaredKinds.JOB.topic());
        if (!job.isIn(target)) {
            throw UserError.failed(
                    "%s was written to topic %s, but this command writes to %s. Set the intake of its writers with --set intake=NAME."
                            .formatted(shown, job.origin().topic(), target));
        }
        new JobCancellation(job.value(), topics.cluster(), this::remark).run(limit);
        print(List.of(shown + " deleted"));
        return 0;
    }

    private static void checkKind(DeclaredKind<?> kind) {
        if (kind.equals(DeclaredKinds.SERVICE)) {
            throw UserError.badUsage(
                    "KIND is service, but must be job: the scheduler keeps a service for good. Declare it with floor 0, and stop its requests: then it needs no GPU.");
        }
        if (kind.equals(DeclaredKinds.QUEUE)) {
            throw UserError.badUsage(
                    "KIND is queue, but must be job: the scheduler keeps a queue for good. Leave out 'queue' in its jobs and services: then it limits nothing.");
        }
    }
}
