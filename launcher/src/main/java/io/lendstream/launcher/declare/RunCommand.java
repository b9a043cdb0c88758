package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.launcher.declare.DeclaredTopics.Written;
import io.lendstream.launcher.operation.CommandMachines;
import io.lendstream.launcher.operation.EndedJobs;
import io.lendstream.launcher.operation.JobFollower;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lendstream run}. */
@Command(
        name = "run",
        description = {
            "Submit a training job with its command. No file on the machine is needed.",
            "The actuator of the machine must have driver process and actuator.process.submitted-commands=true; otherwise the job fails, and nothing is run.",
            "No shell reads COMMAND. The name of a job can be used again 24 hours after its end, once it is deleted.",
            "With --wait, exits with 0 if the job finished, with 1 if it failed. Ctrl-C ends the command (130), and not the job."
        },
        footer = {
            "Example: lendstream run --gpus 1-4 --name bert-1 --wait -- python3 train.py",
            "         lendstream run --gpus 2 --name t5 --queue nlp -- sh train.sh --lr 0.1"
        })
public final class RunCommand extends ClusterCommand {
    private static final String SOURCE = "options";

    /** The place before the name of an option in messages about its value. */
    private static final Pattern PLACE =
            Pattern.compile("^options, line \\d+, document \\d+(?: \\([^)]*\\))?: (?:spec: )?");

    private static final Pattern OPTION = Pattern.compile("^(?:spec\\.program|spec|metadata)\\.(?=[a-z])");

    @Option(
            names = "--gpus",
            required = true,
            paramLabel = "N",
            description = "Its number of GPUs, such as 2, or the range in which it may change, such as 1-4.")
    private String gpus = "";

    @Option(names = "--name", required = true, paramLabel = "NAME", description = "The name of the job.")
    private String name = "";

    @Option(
            names = "--domain",
            paramLabel = "D",
            defaultValue = "default",
            description = "The domain of its GPUs. Default: ${DEFAULT-VALUE}.")
    private String domain = "default";

    @Option(names = "--queue", paramLabel = "Q", description = "The queue whose quota its GPUs count in.")
    private Optional<String> queue = Optional.empty();

    @Option(
            names = "--priority",
            paramLabel = "P",
            description = {"Higher goes first where queues are declared.", "Default: 0."})
    private Optional<String> priority = Optional.empty();

    @Option(
            names = "--application",
            paramLabel = "A",
            description = "Jobs of one application share what is learned of their speed. Default: the name.")
    private Optional<String> application = Optional.empty();

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            defaultValue = "restart",
            description = {
                "How it follows a change of its GPUs. restart: SIGTERM, for a checkpoint, and a new start. afe: in place, with lendstream_afe.",
                "Default: ${DEFAULT-VALUE}."
            })
    private String mode = "restart";

    @Option(
            names = "--batch",
            paramLabel = "SAMPLES",
            description = "Total batch, in samples. Default: one on each of its most GPUs.")
    private Optional<String> batch = Optional.empty();

    @Option(
            names = "--directory",
            paramLabel = "DIR",
            description = "Working directory on the machine that runs it. Default: the present directory.")
    private Path directory = Path.of("");

    @Option(names = "--wait", description = "Show each phase of the job until it ends.")
    private boolean waits;

    @Parameters(
            paramLabel = "-- COMMAND",
            arity = "0..*",
            description = "The program and its arguments: at most 64, with at most 8 KiB.")
    private List<String> command = new ArrayList<>();

    @Override
    public Integer call() {
        DeclaredObject<?> object = object();
        DeclaredTopics topics = DeclaredTopics.read(cluster(), ApplyPlan.kinds(List.of(object)), this::remark);
        DomainId of = object.name().domain();
        topics.find(DeclaredKinds.JOB, name).map(Written::value).ifPresent(RunCommand::refuse);
        new CommandMachines(topics.cluster(), this::remark).check(of).ifPresent(this::remark);
        ApplyPlan plan = ApplyPlan.of(List.of(object), topics);
        EndedJobs.read(topics.cluster(), plan.newJobs(), this::remark).refuse("--name", new JobId(name));
        plan.problems().stream().findFirst().ifPresent(problem -> {
            throw UserError.badUsage(inOptions(problem));
        });
        plan.warnings().forEach(this::remark);
        if (!waits) {
            ApplyCommand.write(plan.changes(), topics);
            submitted(plan);
            return 0;
        }
        JobId job = new JobId(name);
        try (JobFollower follower = new JobFollower(topics.cluster(), job, this::show, this::remark)) {
            ApplyCommand.write(plan.changes(), topics);
            return follow(follower);
        }
    }

    private int follow(JobFollower follower) {
        Thread goesOn =
                new Thread(() -> remark("job/%s goes on; end it with: lendstream delete job %s".formatted(name, name)));
        Runtime.getRuntime().addShutdownHook(goesOn);
        JobPhase end = follower.await();
        Runtime.getRuntime().removeShutdownHook(goesOn);
        return end == JobPhase.FINISHED ? 0 : UserError.FAILED;
    }

    private void submitted(ApplyPlan plan) {
        if (json()) {
            print(plan.changes().get(0).json(false));
            return;
        }
        print(submitted());
    }

    /** Whether a machine runs commands is a setting of its actuator, which no record has. */
    List<String> submitted() {
        return List.of(
                "job/%s submitted: %s GPUs in domain %s".formatted(name, gpus, domain),
                "its state: lendstream describe job %s".formatted(name),
                "end it:    lendstream delete job %s".formatted(name),
                "It fails if its machine refuses commands (actuator.process.submitted-commands is false by default).",
                "For 15 minutes 'describe' and 'lendstream top' show the reason. Or add --wait, which prints it.");
    }

    private void show(JobFollower.Step step) {
        if (json()) {
            print(JsonNodeFactory.instance
                    .objectNode()
                    .put("job", name)
                    .put("phase", step.phase())
                    .put("reason", step.reason()));
            return;
        }
        print(List.of(
                "job/%s %s%s".formatted(name, step.phase(), step.reason().isEmpty() ? "" : ": " + step.reason())));
    }

    private static void refuse(TrainingJob known) {
        throw UserError.failed(
                "--name is %s, but job/%s is declared already, in domain %s since %s. Choose another name; this one may be used again once the job is deleted, and has ended for %d h."
                        .formatted(
                                known.job(),
                                known.job(),
                                known.domain(),
                                known.submittedAt(),
                                JobPhase.KNOWN_WHEN_OVER.toHours()));
    }

    /** The object that a file with the values of the options would declare. */
    DeclaredObject<?> object() {
        if (command.isEmpty()) {
            throw UserError.badUsage(
                    "COMMAND is missing; add the program of the job after --, such as: -- python3 train.py");
        }
        ObjectReader reader = new ObjectReader();
        reader.read(SOURCE, declaration().toString());
        reader.problems().stream().findFirst().ifPresent(problem -> {
            throw UserError.badUsage(inOptions(problem));
        });
        return reader.objects().get(0);
    }

    private ObjectNode declaration() {
        ObjectNode declared = JsonNodeFactory.instance.objectNode();
        declared.put("apiVersion", DeclaredKind.API_VERSION).put("kind", DeclaredKinds.JOB.name());
        declared.putObject("metadata").put("name", name).put("domain", domain);
        ObjectNode spec = declared.putObject("spec");
        spec.put("application", application.orElse(name)).put("gpus", gpus);
        queue.ifPresent(value -> spec.put("queue", value));
        priority.ifPresent(value -> spec.put("priority", value));
        batch.or(() -> JobGpus.parse(gpus).filter(JobGpus::isRange).map(range -> Integer.toString(range.most())))
                .ifPresent(
                        total -> spec.putObject("batch").put("initial", total).put("localMax", total));
        ObjectNode program = spec.putObject("program");
        ArrayNode entries = program.putArray("command");
        command.forEach(entries::add);
        program.put("directory", directory.toAbsolutePath().normalize().toString())
                .put("mode", mode);
        return declared;
    }

    /** A message about a value with the name of its option. */
    private static String inOptions(String problem) {
        String text = PLACE.matcher(problem).replaceFirst("");
        return OPTION.matcher(text).replaceFirst("--").replaceFirst("^--batch\\.\\w+", "--batch");
    }
}
