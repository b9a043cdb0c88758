package io.lendstream.stack;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * The location of the built modules, and the class path of each.
 *
 * @param home the directory of the modules
 */
public record Installation(Path home) {

    /** Names {@link #home} if the location of this class does not show it. */
    public static final String HOME_PROPERTY = "lendstream.home";

    public static Installation find() {
        String named = System.getProperty(HOME_PROPERTY, "");
        if (!named.isEmpty()) {
            return new Installation(Path.of(named).toAbsolutePath().normalize());
        }
        for (Path at = self(); at != null; at = at.getParent()) {
            if (Files.isDirectory(at.resolve("embedded")) && Files.isDirectory(at.resolve("launcher"))) {
                return new Installation(at);
            }
        }
        throw new StackException(
                "Lendstream's modules are not found around %s; start it with ./lendstream, or name their directory with -D%s=DIR."
                        .formatted(self(), HOME_PROPERTY));
    }

    /** The jar of the module, followed by its dependencies. */
    public List<Path> classPath(String module) {
        Path target = home.resolve(module).resolve("target");
        Path jar = jarOf(module)
                .orElseThrow(() -> new StackException(
                        "Module %s is not built: %s has no jar; build it with ./mvnw -DskipTests package."
                                .formatted(module, target)));
        var classPath = new ArrayList<Path>();
        classPath.add(jar);
        classPath.addAll(jarsIn(target.resolve("lib")));
        return List.copyOf(classPath);
    }

    /** Whether the module is built and has this main class. */
    public boolean has(String module, String mainClass) {
        return jarOf(module)
                .filter(jar -> contains(jar, mainClass.replace('.', '/') + ".class"))
                .isPresent();
    }

    /**
     * The jar of the registry, whose manifest names the rest of its class path. It comes last, after newer versions
     * of libraries in its archive.
     */
    List<Path> registryClassPath() {
        Path directory = home.resolve("embedded/target/registry");
        Path jar = jarsIn(directory).stream()
                .filter(entry -> entry.getFileName().toString().endsWith("-runner.jar"))
                .findFirst()
                .orElseThrow(() -> new StackException(
                        "The registry is not built: %s has no *-runner.jar; build it with ./mvnw -DskipTests package."
                                .formatted(directory)));
        var classPath = new ArrayList<>(jarsIn(directory.resolve("overrides")));
        classPath.add(jar);
        return List.copyOf(classPath);
    }

    /** What the jar's manifest would start with {@code java -jar}. */
    static String mainClassOf(Path jar) {
        try (var file = new JarFile(jar.toFile())) {
            return file.getManifest().getMainAttributes().getValue(Attributes.Name.MAIN_CLASS);
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be read".formatted(jar), e);
        }
    }

    /** The jar or class directory of {@link ChildMain}. */
    static Path self() {
        try {
            return Path.of(ChildMain.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException("this class lies nowhere", e);
        }
    }

    private Optional<Path> jarOf(String module) {
        return jarsIn(home.resolve(module).resolve("target")).stream()
                .filter(jar -> jar.getFileName().toString().startsWith("lendstream-" + module + "-"))
                .filter(jar -> !jar.getFileName().toString().matches(".*-(tests|sources|javadoc)\\.jar"))
                .max(Comparator.comparing(jar -> jar.toFile().lastModified()));
    }

    private static List<Path> jarsIn(Path directory) {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.filter(entry -> entry.toString().endsWith(".jar"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be listed".formatted(directory), e);
        }
    }

    private static boolean contains(Path jar, String entry) {
        try (var file = new JarFile(jar.toFile())) {
            return file.getEntry(entry) != null;
        } catch (IOException e) {
            return false;
        }
    }
}
