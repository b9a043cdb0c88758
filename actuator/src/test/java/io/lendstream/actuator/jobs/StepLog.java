package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/** The steps that the workers of the example noted, each by itself. */
record StepLog(List<Entry> entries) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** @param samples those of the whole step, all ranks together */
    record Entry(
            long step, long nanos, long membership, int rank, int world, List<Integer> samples, List<Integer> own) {}

    static StepLog read(Path directory) throws IOException {
        List<Entry> entries = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.jsonl")) {
            for (Path file : files) {
                for (String line : Files.readAllLines(file)) {
                    if (line.endsWith("}")) { // a killed worker may leave half a line
                        JsonNode node = JSON.readTree(line);
                        entries.add(JSON.treeToValue(node, Entry.class));
                    }
                }
            }
        }
        entries.sort(Comparator.comparingLong(Entry::nanos));
        return new StepLog(entries);
    }

    /** The samples of each step as the surviving state has taken them: where a step was done again, the last time. */
    List<List<Integer>> schedule() {
        var last = new TreeMap<Long, Entry>();
        for (Entry each : entries) {
            last.merge(each.step, each, (one, other) -> one.membership >= other.membership ? one : other);
        }
        return last.values().stream().map(Entry::samples).toList();
    }

    /** Steps that a worker completed, that were lost, and that were repeated. */
    long stepsDoneAgain() {
        var done = new TreeMap<Long, Set<List<Integer>>>();
        entries.forEach(
                each -> done.computeIfAbsent(each.step, any -> new HashSet<>()).add(each.samples));
        return done.values().stream().mapToLong(each -> each.size() - 1L).sum();
    }

    /** What each rank took of a step, put together, is the step; entries of dead ranks may be missing. */
    boolean ranksTookTheirShares() {
        return entries.stream().allMatch(each -> each.samples.containsAll(each.own));
    }

    long lastStep() {
        return entries.stream().mapToLong(Entry::step).max().orElse(-1);
    }
}
