package io.lendstream.simulator.workload;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds workloads by name: a preset, or a file in a published format. */
public final class Workloads {
    /** Told apart by the header, in this order. */
    private static final List<Format> FORMATS = List.of(
            new Format("DeepBoot and Pollux workloads", DeepBootReader::knows, DeepBootReader::read),
            new Format("services with rate series", RateServicesReader::knows, RateServicesReader::read),
            new Format("Philly's job list", PhillyReader::knows, PhillyReader::read),
            new Format("Alibaba's openb pods", OpenbReader::knows, OpenbReader::read),
            new Format("ServeGen's client rates", ServeGenReader::knows, ServeGenReader::read),
            new Format("job,submitSeconds,gpus,runSeconds", JobListReader::knows, JobListReader::read),
            new Format("queue,nominalQuota", QueueListReader::knows, QueueListReader::read));

    private record Format(String name, Predicate<List<String>> knows, BiFunction<Path, Scene, Workload> read) {}

    private Workloads() {}

    /**
     * Reads {@code W[,W...]}; several are merged in the order of time. Services of the scene's {@code --services} file
     * are added.
     */
    public static Workload load(String names, Scene scene) {
        List<Workload> parts = new ArrayList<>();
        for (String name : names.split(",", -1)) {
            parts.add(one(name.trim(), scene));
        }
        scene.services().ifPresent(file -> parts.add(RateServicesReader.read(file, scene)));
        return Workload.merged(parts);
    }

    /** The names of workloads for titles: presets by name, files without their directories. */
    public static String title(String names) {
        return Stream.of(names.split(",", -1))
                .map(String::trim)
                .map(name -> Presets.has(name) ? name : fileName(name))
                .collect(Collectors.joining(","));
    }

    /** The nodes that a workload in YAML is meant for; empty if no file has a section for them. */
    public static Optional<WorkloadCluster> cluster(String names) {
        Optional<WorkloadCluster> found = Optional.empty();
        for (String name : names.split(",", -1)) {
            Path file = Path.of(name.trim());
            boolean isRead = !Presets.has(name.trim()) && YamlSections.isYaml(file) && Files.isRegularFile(file);
            Optional<WorkloadCluster> next = isRead ? YamlReader.cluster(file) : Optional.empty();
            if (found.isPresent() && next.isPresent()) {
                throw new IllegalArgumentException(
                        "%s has a section cluster, and a file before it has one; leave one out".formatted(file));
            }
            found = found.or(() -> next);
        }
        return found;
    }

    private static String fileName(String name) {
        Path file = Path.of(name).getFileName();
        return file == null ? name : file.toString();
    }

    private static Workload one(String name, Scene scene) {
        if (Presets.has(name)) {
            return Presets.create(name, scene);
        }
        Path file = Path.of(name);
        if (!Files.isRegularFile(file)) {
            throw new IllegalArgumentException("there is no workload '%s': it is no file, and no preset of %s"
                    .formatted(
                            name,
                            Presets.all().stream().map(Presets.Entry::name).toList()));
        }
        if (YamlSections.isYaml(file)) {
            return YamlReader.read(file, scene);
        }
        List<String> header = CsvTable.header(file);
        if (header.isEmpty()) {
            throw new IllegalArgumentException("%s is empty; give a file with a header and rows".formatted(file));
        }
        return FORMATS.stream()
                .filter(format -> format.knows.test(header))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "%s, line 1: the header '%s' is of no format known here; known are %s"
                                .formatted(
                                        file,
                                        String.join(",", header),
                                        FORMATS.stream().map(Format::name).toList())))
                .read
                .apply(file, scene);
    }
}
