package io.lendstream.benchmarks.audit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

final class AuditTest {
    private static final String BILL = """
            {"bomFormat": "CycloneDX", "components": [
              {"purl": "pkg:maven/org.example/codec@4.1.115.Final?type=jar"},
              {"purl": "pkg:maven/org.example/json@2.17.2?type=jar"}]}
            """;
    private static final String HIT = """
            {"id": "GHSA-aaaa", "aliases": ["CVE-2025-1"], "summary": "Reads too far",
             "affected": [{"package": {"ecosystem": "Maven", "name": "org.example:codec"},
               "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "4.1.91.Final"}, {"fixed": "4.1.118.Final"}]}]}]}
            """;
    private static final String MISS = """
            {"id": "GHSA-bbbb", "summary": "Mended long ago",
             "affected": [{"package": {"ecosystem": "Maven", "name": "org.example:json"},
               "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.17.1"}]}]}]}
            """;

    @TempDir
    private Path directory;

    private final List<String> said = new ArrayList<>();
    private Path database;
    private Path accepted;

    @BeforeEach
    void files() throws IOException {
        database = Files.createDirectories(directory.resolve("db"));
        accepted = Files.writeString(directory.resolve("accepted.txt"), "# none\n");
        Files.writeString(directory.resolve("bom.json"), BILL);
    }

    private int audit(String... more) {
        String[] arguments = Stream.concat(
                        Stream.of("--bom", directory.resolve("bom.json").toString(), "--accepted", accepted.toString()),
                        Arrays.stream(more))
                .toArray(String[]::new);
        return new CommandLine(new AuditMain(said::add)).execute(arguments);
    }

    private int auditWith(String... advisories) throws IOException {
        for (int i = 0; i < advisories.length; i++) {
            Files.writeString(database.resolve(i + ".json"), advisories[i]);
        }
        return audit("--db", database.toString());
    }

    @Test
    void aVersionThatIsAffectedIsFoundAndOneThatIsMendedIsNot() throws IOException {
        int status = auditWith(HIT, MISS);

        assertThat(status).isEqualTo(1);
        assertThat(said)
                .contains("FOUND: org.example:codec:4.1.115.Final GHSA-aaaa CVE-2025-1: Reads too far")
                .contains("2 components, 2 advisories: 1 found, 0 accepted")
                .noneMatch(line -> line.contains("GHSA-bbbb"));
    }

    @Test
    void nothingFoundIsWell() throws IOException {
        assertThat(auditWith(MISS)).isZero();
        assertThat(said).containsExactly("2 components, 1 advisories: 0 found, 0 accepted");
    }

    @Test
    void aZipAsItIsPublishedIsReadToo() throws IOException {
        try (OutputStream file = Files.newOutputStream(database.resolve("all.zip"));
                var zip = new ZipOutputStream(file)) {
            zip.putNextEntry(new ZipEntry("GHSA-aaaa.json"));
            zip.write(HIT.getBytes(StandardCharsets.UTF_8));
        }

        assertThat(audit("--db", database.toString())).isEqualTo(1);
    }

    @Test
    void anAcceptedFindingIsShownWithItsReason() throws IOException {
        Files.writeString(accepted, "CVE-2025-1 org.example:codec only the demo has it, on loopback\n");

        assertThat(auditWith(HIT)).isZero();
        assertThat(said)
                .contains(
                        "accepted: org.example:codec:4.1.115.Final GHSA-aaaa CVE-2025-1: Reads too far (only the demo has it, on loopback)");
    }

    @Test
    void anAcceptedFindingThatIsGoneIsReported() throws IOException {
        Files.writeString(accepted, "CVE-2025-1 org.example:json another package\n");

        assertThat(auditWith(HIT)).as("accepted for another package only").isEqualTo(1);
        assertThat(said).anyMatch(line -> line.startsWith("not found any more: CVE-2025-1 org.example:json"));
    }

    @Test
    void anAcceptedFindingNeedsAReason() throws IOException {
        Files.writeString(accepted, "CVE-2025-1 org.example:codec\n");

        assertThat(auditWith(HIT)).isEqualTo(2);
        assertThat(said).singleElement().asString().contains("line 1", "but must be an id, a package and a reason");
    }

    @Test
    void withoutADatabaseTheOutputSaysThatNothingIsChecked() {
        assertThat(audit()).isZero();
        assertThat(said).singleElement().asString().startsWith("skipped: 2 components were not checked");
    }

    @Test
    void aDirectoryThatIsNoDatabaseIsNotTakenForOne() {
        assertThat(audit("--db", database.toString())).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({
        "[{\"introduced\":\"0\"}], true",
        "[{\"introduced\":\"2.17.2\"}], true",
        "[{\"introduced\":\"2.17.3\"}], false",
        "'[{\"introduced\":\"0\"},{\"fixed\":\"2.17.2\"}]', false",
        "'[{\"introduced\":\"0\"},{\"last_affected\":\"2.17.2\"}]', true",
        "'[{\"introduced\":\"0\"},{\"fixed\":\"2.9\"},{\"introduced\":\"2.17.0-rc1\"},{\"fixed\":\"2.17.10\"}]', true",
        "'[{\"fixed\":\"2.17.10\"},{\"introduced\":\"2.17.2\"}]', true"
    })
    void rangesGoByMavensOrderOfVersions(String events, boolean isAffected) throws IOException {
        assertThat(auditWith("""
                {"id": "X", "affected": [{"package": {"ecosystem": "Maven", "name": "org.example:json"},
                 "ranges": [{"type": "ECOSYSTEM", "events": %s}]}]}
                """.formatted(events))).isEqualTo(isAffected ? 1 : 0);
    }

    @ParameterizedTest
    @CsvSource({"'\"withdrawn\": \"2025-01-01T00:00:00Z\",', Maven, 2", "'', npm, 2", "'', Maven, 1"})
    void whatIsWithdrawnOrOfAnotherWorldIsLeftOut(String withdrawn, String ecosystem, int status) throws IOException {
        assertThat(auditWith("""
                {"id": "X", %s "affected": [{"package": {"ecosystem": "%s", "name": "org.example:json"}, "versions": ["2.17.2"]}]}
                """.formatted(withdrawn, ecosystem))).isEqualTo(status);
    }

    @Test
    void jarsAreKnownByWhatIsInThemElseByTheirNames() throws IOException {
        Path jars = Files.createDirectories(directory.resolve("jars/lib"));
        jar(jars.resolve("renamed.jar"), "groupId=org.example\nartifactId=codec\nversion=4.1.100.Final\n");
        jar(jars.resolve("modified-org.example.json-2.16.0.jar"), "");
        Files.writeString(directory.resolve("bom.json"), "{\"components\": []}");
        Files.writeString(database.resolve("hit.json"), HIT);
        Files.writeString(database.resolve("miss.json"), MISS);

        assertThat(audit("--db", database.toString(), "--jars", jars.getParent().toString()))
                .isEqualTo(1);
        assertThat(said)
                .anyMatch(line -> line.startsWith("FOUND: org.example:codec:4.1.100.Final"))
                .anyMatch(line -> line.startsWith("FOUND: org.example:json:2.16.0"));
    }

    private static void jar(Path file, String coordinates) throws IOException {
        try (var zip = new ZipOutputStream(Files.newOutputStream(file))) {
            zip.putNextEntry(new ZipEntry(
                    coordinates.isEmpty() ? "A.class" : "META-INF/maven/org.example/codec/pom.properties"));
            zip.write(coordinates.getBytes(StandardCharsets.UTF_8));
        }
    }
}
