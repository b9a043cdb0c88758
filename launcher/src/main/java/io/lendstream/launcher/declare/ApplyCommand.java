package io.lendstream.launcher.declare;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.launcher.operation.EndedJobs;
import io.lendstream.launcher.operation.FailedPrograms;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.kafka.WriteFailedException;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.KafkaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code lendstream apply}. */
@Command(
        name = "apply",
        description = {
            "Declare services, training jobs, queues and settings of domains from files in YAML or JSON.",
            "All objects are checked first; if one is wrong, nothing is written. Unchanged objects are not written,",
            "unless their program could not be run in the last 10 minutes: it is tried again at once.",
            "Fields: docs/declarations.md. JSON Schemas for editors: docs/schemas."
        },
        footer = {
            "Example: lendstream apply -f examples/declarations/llm-service.yaml --dry-run",
            "         lendstream get service chat -o yaml | lendstream apply -f -"
        })
public final class ApplyCommand extends ClusterCommand {
    private static final String STANDARD_INPUT = "-";

    @Option(
            names = {"-f", "--filename"},
            required = true,
            paramLabel = "FILE",
            description = "A file with objects; - is standard input. May be repeated.")
    private List<String> files = new ArrayList<>();

    @Option(
            names = "--dry-run",
            description = "Check everything and show what would change for each object, but write nothing.")
    private boolean dryRun;

    @Override
    public Integer call() {
        ObjectReader reader = new ObjectReader();
        files.forEach(file -> reader.read(file.equals(STANDARD_INPUT) ? "standard input" : file, text(file)));
        stopAt(reader.problems());
        List<DeclaredObject<?>> objects = reader.objects();
        DeclaredTopics topics = DeclaredTopics.read(cluster(), ApplyPlan.kinds(objects), this::remark);
        ApplyPlan plan = ApplyPlan.of(objects, topics);
        plan.refuseNamesOf(EndedJobs.read(cluster(), plan.newJobs(), this::remark));
        stopAt(plan.problems());
        plan.warnings().forEach(this::remark);
        List<ObjectChange<?>> changes = retried(plan.changes());
        List<ObjectChange<?>> due = changes.stream().filter(ObjectChange::isDue).toList();
        if (!dryRun && !due.isEmpty()) {
            write(due, topics);
        }
        if (json()) {
            ArrayNode all = JsonNodeFactory.instance.arrayNode();
            changes.forEach(change -> all.add(change.json(dryRun)));
            print(all);
        } else {
            print(changes.stream().map(change -> change.inWords(dryRun)).toList());
        }
        return 0;
    }

    /** The changes, where unchanged objects are written again if their program could not be run lately. */
    private List<ObjectChange<?>> retried(List<ObjectChange<?>> changes) {
        if (changes.stream().allMatch(change -> change.unchanged().isEmpty())) {
            return changes;
        }
        try {
            FailedPrograms failed = FailedPrograms.read(cluster(), this::remark);
            List<ObjectChange<?>> all = new ArrayList<>();
            changes.forEach(
                    change -> all.add(change.unchanged().filter(failed::has).isPresent() ? change.again() : change));
            return all;
        } catch (KafkaException e) {
            remark(
                    "cannot read topic %s (%s): unchanged objects whose program could not be run are not written again. Allow this principal to read it, as in deploy/acl/workload.acl."
                            .formatted(cluster().topics().name(TopicCatalogue.ACTUATION_REPORTS), e.getMessage()));
            return changes;
        }
    }

    /** Fails if there are errors: all but the last are printed first. */
    private void stopAt(List<String> problems) {
        if (problems.isEmpty()) {
            return;
        }
        if (problems.size() == 1) {
            throw UserError.badUsage(problems.get(0) + " Nothing was written.");
        }
        problems.forEach(this::remark);
        throw UserError.badUsage("%d errors. Nothing was written.".formatted(problems.size()));
    }

    /** Writes the records of changes. */
    static void write(List<ObjectChange<?>> due, DeclaredTopics topics) {
        TopicCatalogue catalogue = topics.cluster().topics();
        try (RecordWriter writer = RecordWriter.open(topics.cluster().kafka(), catalogue, "/lendstream/command")) {
            due.forEach(change -> change.write(writer));
            writer.flush();
        } catch (WriteFailedException e) {
            throw UserError.failed(
                    "%s. Use a principal that may write to the topics of the objects, or name its intake with --set intake=NAME; then run it again: unchanged objects are not written twice."
                            .formatted(e.getMessage()));
        }
    }

    private static String text(String file) {
        try {
            if (file.equals(STANDARD_INPUT)) {
                return new String(System.in.readAllBytes(), UTF_8);
            }
            Path path = Path.of(file);
            if (Files.isDirectory(path)) {
                throw UserError.badUsage(
                        "-f is %s, but must be a file, not a directory; name each file with -f FILE.".formatted(file));
            }
            return Files.readString(path);
        } catch (CharacterCodingException e) {
            throw UserError.badUsage("-f is %s, but is no text in UTF-8; convert it.".formatted(file));
        } catch (NoSuchFileException e) {
            throw UserError.badUsage(
                    "-f is %s, but there is no such file; name a file, or - for standard input.".formatted(file));
        } catch (IOException | InvalidPathException e) {
            throw UserError.badUsage("-f is %s, which cannot be read (%s); name a file, or - for standard input."
                    .formatted(file, e.getClass().getSimpleName()));
        }
    }
}
