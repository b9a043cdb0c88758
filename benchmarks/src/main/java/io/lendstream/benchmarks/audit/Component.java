package io.lendstream.benchmarks.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * A library in a version.
 *
 * @param name group and artifact, with a colon between them, as the database names packages of Maven
 */
record Component(String name, String version) implements Comparable<Component> {
    private static final Pattern PURL = Pattern.compile("pkg:maven/([^/@?#]+)/([^/@?#]+)@([^?#]+).*");
    /** The name of an application jar of Quarkus: group.artifact-version.jar, both with dots. */
    private static final Pattern JAR = Pattern.compile("(?:modified-)?(.+?)-(\\d[^-]*(?:-[A-Za-z0-9]+)*)\\.jar");

    @Override
    public int compareTo(Component other) {
        int byName = name.compareTo(other.name);
        return byName != 0 ? byName : version.compareTo(other.version);
    }

    @Override
    public String toString() {
        return name + ":" + version;
    }

    /**
     * The components of a bill of materials in CycloneDX's JSON.
     *
     * @throws IOException if the file cannot be read
     */
    static List<Component> ofBill(Path bill) throws IOException {
        var found = new TreeSet<Component>();
        for (JsonNode component : new ObjectMapper().readTree(bill.toFile()).path("components")) {
            Matcher purl = PURL.matcher(component.path("purl").asText());
            if (purl.matches()) {
                found.add(new Component(decoded(purl.group(1)) + ":" + decoded(purl.group(2)), decoded(purl.group(3))));
            }
        }
        return List.copyOf(found);
    }

    /**
     * The components of the jars below a directory: by the Maven coordinates inside them, else by their names. If
     * group and artifact are ambiguous in a name, every split counts.
     *
     * @throws IOException if the directory or a jar cannot be read
     */
    static List<Component> ofJars(Path directory) throws IOException {
        var found = new TreeSet<Component>();
        List<Path> jars;
        try (Stream<Path> files = Files.walk(directory)) {
            jars = files.filter(file -> file.toString().endsWith(".jar"))
                    .sorted()
                    .toList();
        }
        for (Path jar : jars) {
            List<Component> inside = inside(jar);
            found.addAll(inside.isEmpty() ? named(jar.getFileName().toString()) : inside);
        }
        return List.copyOf(found);
    }

    private static List<Component> inside(Path jar) throws IOException {
        var found = new ArrayList<Component>();
        try (var zip = new ZipFile(jar.toFile())) {
            for (ZipEntry entry : zip.stream()
                    .filter(each -> each.getName().matches("META-INF/maven/[^/]+/[^/]+/pom\\.properties"))
                    .toList()) {
                var coordinates = new Properties();
                try (InputStream in = zip.getInputStream(entry)) {
                    coordinates.load(in);
                }
                found.add(new Component(
                        coordinates.getProperty("groupId") + ":" + coordinates.getProperty("artifactId"),
                        coordinates.getProperty("version", "")));
            }
        }
        return found;
    }

    private static List<Component> named(String file) {
        Matcher jar = JAR.matcher(file);
        var found = new ArrayList<Component>();
        if (jar.matches()) {
            String name = jar.group(1);
            for (int dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
                found.add(new Component(name.substring(0, dot) + ":" + name.substring(dot + 1), jar.group(2)));
            }
        }
        return found;
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
