package io.lendstream.simulator.workload;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Finds workloads by the names that people give them: a preset, or a file in a published format. */
public final class Workloads {
    private Workloads() {}

    /**
     * Reads {@code W[,W...]}; several are merged in the order of time. Services of the scene's {@code --services} file are
     * added.
     */
    public static Workload load(String names, Scene scene) {
        List<Workload> parts = new ArrayList<>();
        for (String name : names.split(",", -1)) {
            parts.add(one(name.trim(), scene));
        }
        scene.services().ifPresent(file -> parts.add(RateServicesReader.read(file, scene)));
        return Workload.merged(parts);
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
        List<String> header = CsvTable.header(file);
        if (DeepBootReader.knows(header)) {
            return DeepBootReader.read(file, scene);
        }
        if (RateServicesReader.knows(header)) {
            return RateServicesReader.read(file, scene);
        }
        throw new IllegalArgumentException(
                "%s, line 1: the header '%s' is of no format known here; expected one with name,time,application,num_replicas,batch_size (DeepBoot, Pollux)"
                        .formatted(file, String.join(",", header)));
    }
}
