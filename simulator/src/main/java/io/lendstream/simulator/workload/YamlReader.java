package io.lendstream.simulator.workload;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads a whole workload in YAML, with the sections {@code cluster}, {@code queues}, {@code jobs} and {@code services}.
 * The fields of the last three are the columns of our own lists.
 */
final class YamlReader {
    private static final String CLUSTER = "cluster";
    private static final String QUEUES = "queues";
    private static final String JOBS = "jobs";
    private static final String SERVICES = "services";

    private static final Map<String, YamlSections.SectionFields> SECTIONS = sections();

    private YamlReader() {}

    private static Map<String, YamlSections.SectionFields> sections() {
        Map<String, YamlSections.SectionFields> sections = new LinkedHashMap<>();
        sections.put(
                CLUSTER,
                new YamlSections.SectionFields(
                        WorkloadCluster.FIELDS,
                        true,
                        Map.of(
                                WorkloadCluster.NODE_GROUPS,
                                new YamlSections.SectionFields(WorkloadGroups.FIELDS, Set.of(WorkloadGroups.MIG))),
                        Set.of()));
        sections.put(QUEUES, new YamlSections.SectionFields(QueueListReader.COLUMNS));
        sections.put(JOBS, new YamlSections.SectionFields(JobListReader.COLUMNS));
        sections.put(SERVICES, new YamlSections.SectionFields(RateServicesReader.COLUMNS));
        return sections;
    }

    static Workload read(Path file, Scene scene) {
        Map<String, List<CsvRow>> rows = YamlSections.read(file, SECTIONS);
        cluster(rows);
        return new Workload(
                DeepBootReader.nameOf(file),
                scene.start(),
                JobListReader.tasks(rows.getOrDefault(JOBS, List.of()), scene),
                RateServicesReader.loads(rows.getOrDefault(SERVICES, List.of()), scene),
                QueueListReader.queues(rows.getOrDefault(QUEUES, List.of()), scene));
    }

    /** The section {@code cluster} of a file; empty if it has none. */
    static Optional<WorkloadCluster> cluster(Path file) {
        return cluster(YamlSections.read(file, SECTIONS));
    }

    private static Optional<WorkloadCluster> cluster(Map<String, List<CsvRow>> rows) {
        List<CsvRow> groups = rows.getOrDefault(WorkloadCluster.NODE_GROUPS, List.of());
        return rows.getOrDefault(CLUSTER, List.of()).stream().findFirst().map(row -> WorkloadCluster.of(row, groups));
    }
}
