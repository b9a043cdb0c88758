package io.lendstream.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The steps of a job, from the logs of its workers. The directory has a file for each worker, with a line for each
 * step.
 */
final class WorkerNotes {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path directory;
    private final Map<Path, Log> logs = new TreeMap<>();

    WorkerNotes(Path directory) {
        this.directory = directory;
    }

    /** A step as one worker noted it. */
    record Noted(long step, long nanos, long membership, int rank, int world, int own) {}

    /** A step of the whole job. */
    record Step(long number, long endNanos, long membership, int world, boolean allTookSamples) {}

    /** What one worker has noted; its file is named by its process. */
    private static final class Log {
        final long process;
        final List<Noted> noted = new ArrayList<>();
        private final Path file;
        private long read;

        Log(Path file) {
            this.file = file;
            this.process = Long.parseLong(file.getFileName().toString().replace(".jsonl", ""));
        }

        /** Leaves a line that is not complete for the next time; a killed worker's stays so. */
        void readOn() throws IOException {
            if (Files.size(file) == read) {
                return;
            }
            try (InputStream in = Files.newInputStream(file)) {
                in.skipNBytes(read);
                String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                int end = text.lastIndexOf('\n') + 1;
                for (String line : text.substring(0, end).lines().toList()) {
                    JsonNode node = JSON.readTree(line);
                    noted.add(new Noted(
                            node.path("step").asLong(),
                            node.path("nanos").asLong(),
                            node.path("membership").asLong(),
                            node.path("rank").asInt(),
                            node.path("world").asInt(),
                            node.path("own").size()));
                }
                read += text.substring(0, end).getBytes(StandardCharsets.UTF_8).length;
            }
        }
    }

    /** Everything that was noted so far. */
    List<Noted> all() {
        readOn();
        return logs.values().stream().flatMap(each -> each.noted.stream()).toList();
    }

    /** The highest step that was noted so far; -1 before the first. */
    long lastStep() {
        return all().stream().mapToLong(Noted::step).max().orElse(-1);
    }

    /** The processes that have noted the last step of all as this rank. */
    LongStream processesOf(int rank) {
        long last = lastStep();
        return logs.values().stream()
                .filter(each -> each.noted.stream().anyMatch(noted -> noted.step == last && noted.rank == rank))
                .mapToLong(each -> each.process);
    }

    /** Steps in order, each as it was done last, with the time at which the last rank had completed it. */
    List<Step> steps() {
        Map<Long, Step> steps = new TreeMap<>();
        for (Noted each : all()) {
            var alone = new Step(each.step, each.nanos, each.membership, each.world, each.own > 0);
            steps.merge(each.step, alone, (one, other) -> {
                if (one.membership != other.membership || one.world != other.world) {
                    return one.endNanos > other.endNanos ? one : other;
                }
                return new Step(
                        one.number,
                        Math.max(one.endNanos, other.endNanos),
                        one.membership,
                        one.world,
                        one.allTookSamples && other.allTookSamples);
            });
        }
        return List.copyOf(steps.values());
    }

    /** Median time between the ends of steps, in seconds; 0 without any. */
    static double medianSeconds(List<Step> steps, int from, int to) {
        List<Double> seconds = IntStream.range(Math.max(1, from + 1), Math.min(to, steps.size()))
                .mapToObj(i -> (steps.get(i).endNanos - steps.get(i - 1).endNanos) / 1e9)
                .toList();
        return seconds.isEmpty() ? 0 : Quantiles.of(seconds, 0.5);
    }

    /** Reads what workers have written since the last time, so that watching them does not take their time. */
    private void readOn() {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.jsonl")) {
            for (Path file : files) {
                logs.computeIfAbsent(file, Log::new).readOn();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the workers' notes cannot be read", e);
        }
    }
}
