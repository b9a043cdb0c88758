package io.lendstream.benchmarks.soak;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The processes of a run, by Linux and by the tools of the JVM. */
final class ProcessSampler {
    private static final double MEGABYTE = 1 << 20;
    private static final Pattern MAIN = Pattern.compile("io\\.lendstream\\.(\\w+)\\.\\w+Main|(io\\.quarkus)\\.\\S+");
    private static final Pattern LIVE = Pattern.compile("(?m)^Total\\s+\\d+\\s+(\\d+)");
    private static final Pattern SEGMENT = Pattern.compile("/\\d{20}\\.(log|index|timeindex|txnindex)$");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private ProcessSampler() {}

    /** The parts of Lendstream among a process and its descendants, by name. */
    static Map<String, Long> below(ProcessHandle root) {
        var found = new TreeMap<String, Long>();
        Stream.concat(Stream.of(root), root.descendants())
                .forEach(process -> name(process.pid()).ifPresent(name -> found.putIfAbsent(name, process.pid())));
        return found;
    }

    private static Optional<String> name(long pid) {
        try {
            String line = Files.readString(Path.of("/proc", String.valueOf(pid), "cmdline"))
                    .replace('\0', ' ');
            Matcher main = MAIN.matcher(line);
            String name = "";
            while (main.find()) {
                name = main.group(2) == null ? main.group(1) : "registry";
            }
            return Optional.of(name.equals("embedded") ? "broker" : name).filter(text -> !text.isEmpty());
        } catch (IOException e) {
            return Optional.empty(); // it ended meanwhile
        }
    }

    /** Samples a process; figures of a process that has ended are left out. */
    static void sample(String name, long pid, double minute, Samples into) {
        try {
            Path process = Path.of("/proc", String.valueOf(pid));
            String status = Files.readString(process.resolve("status"));
            into.add(name, SoakMetric.RSS, minute, kilobytes(status, "RssAnon") / 1024);
            into.add(name, SoakMetric.MAPPED, minute, kilobytes(status, "RssFile") / 1024);
            into.add(name, SoakMetric.THREADS, minute, kilobytes(status, "Threads"));
            Map<Boolean, Long> open = descriptors(process.resolve("fd"));
            into.add(name, SoakMetric.DESCRIPTORS, minute, (double) open.getOrDefault(false, 0L));
            long segments = open.getOrDefault(true, 0L);
            if (segments > 0) {
                into.add(name, SoakMetric.SEGMENTS, minute, (double) segments);
            }
            heapAfterCollection(pid).ifPresent(heap -> into.add(name, SoakMetric.HEAP, minute, heap));
        } catch (IOException e) {
            return;
        }
    }

    /** The number of open files, by whether they are log segments. */
    private static Map<Boolean, Long> descriptors(Path directory) throws IOException {
        try (Stream<Path> descriptors = Files.list(directory)) {
            return descriptors.collect(Collectors.partitioningBy(ProcessSampler::isOfASegment, Collectors.counting()));
        }
    }

    private static boolean isOfASegment(Path descriptor) {
        try {
            return SEGMENT.matcher(Files.readSymbolicLink(descriptor).toString())
                    .find();
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    /**
     * Live heap after a full collection, in megabytes; empty if the JVM does not answer. The answer goes to a file:
     * from Java 25 on, a JVM writes it while all its threads are stopped, so a process that samples itself could not
     * read a pipe.
     */
    private static OptionalDouble heapAfterCollection(long pid) throws IOException {
        Path answer = Files.createTempFile("lendstream-heap-", ".txt");
        Process jcmd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        String.valueOf(pid),
                        "GC.class_histogram")
                .redirectErrorStream(true)
                .redirectOutput(answer.toFile())
                .start();
        try {
            jcmd.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            Matcher live = LIVE.matcher(Files.readString(answer));
            return live.find()
                    ? OptionalDouble.of(Double.parseDouble(live.group(1)) / MEGABYTE)
                    : OptionalDouble.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return OptionalDouble.empty();
        } finally {
            jcmd.destroyForcibly();
            Files.delete(answer);
        }
    }

    /** Files of the run: of each child's directory, and of each topic with all its partitions. */
    static void sampleFiles(Path data, double minute, Samples into) {
        var bytes = new TreeMap<String, Long>();
        for (Path file : files(data)) {
            Path inside = data.relativize(file);
            String child = "files of " + inside.getName(0);
            bytes.merge(child, file.toFile().length(), Long::sum);
            if (inside.startsWith(Path.of("broker", "log")) && inside.getNameCount() > 3 && isLog(file)) {
                String topic = inside.getName(2).toString().replaceFirst("-\\d+$", "");
                bytes.merge("topic " + topic, file.toFile().length(), Long::sum);
            }
        }
        bytes.forEach((name, length) -> into.add(name, SoakMetric.FILES, minute, length / MEGABYTE));
    }

    private static boolean isLog(Path file) {
        return file.toString().endsWith(".log");
    }

    private static List<Path> files(Path directory) {
        var found = new ArrayList<Path>();
        try {
            Files.walkFileTree(directory, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    found.add(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException e) {
                    return FileVisitResult.CONTINUE; // deleted under the walk
                }
            });
        } catch (IOException e) {
            return List.of();
        }
        return found;
    }

    private static double kilobytes(String status, String field) throws IOException {
        Matcher line = Pattern.compile("(?m)^" + field + ":\\s+(\\d+)").matcher(status);
        if (!line.find()) {
            throw new NoSuchFileException("/proc/PID/status has no " + field);
        }
        return Double.parseDouble(line.group(1));
    }
}
