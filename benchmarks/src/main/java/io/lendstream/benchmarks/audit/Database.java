package io.lendstream.benchmarks.audit;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * A copy of osv.dev's database: JSON files, or zips of them such as its {@code Maven/all.zip}, anywhere below a
 * directory.
 */
record Database(List<Advisory> advisories) {
    private static final ObjectMapper JSON = new ObjectMapper();

    Database {
        advisories = List.copyOf(advisories);
    }

    /**
     * Reads the copy.
     *
     * @throws IOException where a file cannot be read, or is no JSON
     */
    static Database read(Path directory) throws IOException {
        var advisories = new ArrayList<Advisory>();
        List<Path> files;
        try (Stream<Path> all = Files.walk(directory)) {
            files = all.filter(Files::isRegularFile).sorted().toList();
        }
        for (Path file : files) {
            if (file.toString().endsWith(".json")) {
                try (InputStream in = Files.newInputStream(file)) {
                    Advisory.of(JSON.readTree(in)).ifPresent(advisories::add);
                }
            } else if (file.toString().endsWith(".zip")) {
                readZip(file, advisories);
            }
        }
        return new Database(advisories);
    }

    private static void readZip(Path file, List<Advisory> advisories) throws IOException {
        try (var zip = new ZipFile(file.toFile())) {
            for (ZipEntry entry : zip.stream()
                    .filter(each -> each.getName().endsWith(".json"))
                    .toList()) {
                try (InputStream in = zip.getInputStream(entry)) {
                    Advisory.of(JSON.readTree(in)).ifPresent(advisories::add);
                }
            }
        }
    }
}
