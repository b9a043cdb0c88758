package io.lendstream.actuator.driver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.actuator.jobs.JobProgram;
import io.lendstream.actuator.jobs.ReplicaProgram;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.event.ProgramMode;
import io.lendstream.core.event.SubmittedProgram;
import io.lendstream.core.event.TrainingJob;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The programs that this node runs for jobs and services. Each has one JSON file, {@code jobs/APPLICATION.json} and
 * {@code services/SERVICE.json}, in a directory of the node. A job can bring its own program only if the settings of
 * the actuator allow it.
 */
public final class Programs {
    /** The setting that allows jobs to bring their own programs. */
    public static final String SUBMITTED = "actuator.process.submitted-commands";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");
    private static final Set<String> JOB =
            Set.of("mode", "command", "launcher", "environment", "directory", "maxRestarts", "graceSeconds");
    private static final Set<String> SERVICE = Set.of("command", "environment", "directory", "ready");
    private static final int RESTARTS = 3;
    /** For a program that does not say how long it takes to write a checkpoint. */
    static final Duration GRACE = Duration.ofSeconds(30);

    private final Path directory;
    private final boolean takesSubmitted;

    /**
     * @param directory directory of the node's files
     * @param takesSubmitted whether jobs can bring their own programs
     */
    public Programs(Path directory, boolean takesSubmitted) {
        this.directory = directory;
        this.takesSubmitted = takesSubmitted;
    }

    /** Reports that a program cannot be read, or not be run on some units; the message has the reason. */
    static final class ProgramException extends Exception {
        private static final long serialVersionUID = 1;

        private final boolean ofProgram;

        /** The program or its declaration is at fault. */
        ProgramException(String message) {
            this(message, true);
        }

        private ProgramException(String message, boolean ofProgram) {
            super(message);
            this.ofProgram = ofProgram;
        }

        /** The units are at fault, or what the inventory says about them. */
        static ProgramException ofUnits(String message) {
            return new ProgramException(message, false);
        }

        boolean isOfProgram() {
            return ofProgram;
        }

        /** The event that an order fails for this reason. */
        DriverEvent.Failed failed(Order.Place place) {
            return failed(place, String.valueOf(getMessage()));
        }

        /** The same in other words. */
        DriverEvent.Failed failed(Order.Place place, String words) {
            return new DriverEvent.Failed(place.tenant(), place.decision(), words, ofProgram);
        }
    }

    Path directory() {
        return directory;
    }

    /** The program of a job: its own, or the one of its application. */
    JobProgram job(TrainingJob job) throws ProgramException {
        Optional<SubmittedProgram> own = job.program();
        return own.isPresent() ? submitted(job, own.get()) : ofApplication(job.application());
    }

    private JobProgram submitted(TrainingJob job, SubmittedProgram own) throws ProgramException {
        Optional<String> refusal = refusal(job);
        if (refusal.isPresent()) {
            throw new ProgramException(refusal.get());
        }
        JobProgram.Mode mode = own.mode() == ProgramMode.AFE ? JobProgram.Mode.AFE : JobProgram.Mode.RESTART;
        return new JobProgram(mode, own.command(), List.of(), Map.of(), own.directory(), RESTARTS, GRACE);
    }

    /** Why the program that a job brings is not run; empty if it is, and for a job without one. */
    Optional<String> refusal(TrainingJob job) {
        Optional<SubmittedProgram> own = job.program();
        if (own.isEmpty()) {
            return Optional.empty();
        }
        if (!takesSubmitted) {
            return Optional.of(
                    "job %s brings its own command, but %s is false on this machine; set it to true, or declare a job without a command whose application has a file in %s"
                            .formatted(job.job(), SUBMITTED, directory.resolve("jobs")));
        }
        if (own.get().mode() == ProgramMode.UNKNOWN) {
            return Optional.of("the mode of the command of job %s is of a later version; update this actuator"
                    .formatted(job.job()));
        }
        if (NAME.matcher(job.application()).matches()
                && Files.exists(directory.resolve("jobs").resolve(job.application() + ".json"))) {
            return Optional.of(
                    "job %s brings its own command, but this machine has jobs/%s.json for its application; choose another application, or declare the job without a command"
                            .formatted(job.job(), job.application()));
        }
        return Optional.empty();
    }

    private JobProgram ofApplication(String application) throws ProgramException {
        Path file = file("jobs", application);
        JsonNode program = read(file, JOB);
        JobProgram.Mode mode = mode(file, program.path("mode").asText("afe"));
        List<String> launcher = texts(file, program, "launcher");
        if (launcher.isEmpty() && mode == JobProgram.Mode.TORCHRUN) {
            launcher = List.of("python3", "-m", "torch.distributed.run");
        }
        try {
            return new JobProgram(
                    mode,
                    texts(file, program, "command"),
                    launcher,
                    environment(program),
                    workingDirectory(program),
                    program.path("maxRestarts").asInt(RESTARTS),
                    Duration.ofSeconds(program.path("graceSeconds").asLong(GRACE.toSeconds())));
        } catch (IllegalArgumentException e) {
            throw new ProgramException("%s: %s".formatted(file, e.getMessage()));
        }
    }

    ReplicaProgram service(String service) throws ProgramException {
        Path file = file("services", service);
        JsonNode program = read(file, SERVICE);
        try {
            return new ReplicaProgram(
                    texts(file, program, "command"),
                    environment(program),
                    workingDirectory(program),
                    Optional.ofNullable(program.get("ready")).map(JsonNode::asText));
        } catch (IllegalArgumentException e) {
            throw new ProgramException("%s: %s".formatted(file, e.getMessage()));
        }
    }

    private Path file(String kind, String name) throws ProgramException {
        if (!NAME.matcher(name).matches()) {
            throw new ProgramException(
                    "'%s' is not a valid file name; it may have letters, digits, '.', '_' and '-' only"
                            .formatted(name));
        }
        return directory.resolve(kind).resolve(name + ".json");
    }

    private static JsonNode read(Path file, Set<String> known) throws ProgramException {
        JsonNode program;
        try {
            program = JSON.readTree(Files.readString(file));
        } catch (IOException e) {
            throw new ProgramException("%s cannot be read (%s); create it with the program that this node should run"
                    .formatted(file, e.getClass().getSimpleName()));
        }
        List<String> unknown = new ArrayList<>();
        program.fieldNames().forEachRemaining(name -> {
            if (!known.contains(name)) {
                unknown.add(name);
            }
        });
        if (!program.isObject() || !unknown.isEmpty()) {
            throw new ProgramException("%s must be an object of %s, but has %s"
                    .formatted(file, known.stream().sorted().toList(), unknown));
        }
        return program;
    }

    private static JobProgram.Mode mode(Path file, String name) throws ProgramException {
        try {
            return JobProgram.Mode.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new ProgramException("%s: mode is '%s'; it must be afe, torchrun or restart".formatted(file, name));
        }
    }

    private static List<String> texts(Path file, JsonNode program, String field) throws ProgramException {
        JsonNode texts = program.path(field);
        if (!texts.isMissingNode() && !texts.isArray()) {
            throw new ProgramException(
                    "%s: %s must be a list of texts, such as [\"python3\", \"train.py\"]; it is not passed to a shell"
                            .formatted(file, field));
        }
        List<String> all = new ArrayList<>();
        texts.forEach(text -> all.add(text.asText()));
        return all;
    }

    private static Map<String, String> environment(JsonNode program) {
        Map<String, String> environment = new TreeMap<>();
        program.path("environment")
                .properties()
                .forEach(each -> environment.put(each.getKey(), each.getValue().asText()));
        return environment;
    }

    private String workingDirectory(JsonNode program) {
        return directory
                .resolve(program.path("directory").asText("."))
                .toAbsolutePath()
                .normalize()
                .toString();
    }
}
