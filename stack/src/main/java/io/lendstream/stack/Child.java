package io.lendstream.stack;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A process for a stack: a main class with its own class path.
 *
 * @param name its name in messages, and of its log file
 * @param classPath its jars, in order
 * @param mainClass its main class
 * @param arguments the arguments of the main class
 * @param systemProperties system properties of its JVM
 * @param jvm the limits of its JVM
 * @param onExit the effect of its end on the run
 */
public record Child(
        String name,
        List<Path> classPath,
        String mainClass,
        List<String> arguments,
        Map<String, String> systemProperties,
        Jvm jvm,
        OnExit onExit) {

    public Child {
        if (!name.matches("[a-z0-9-]+")) {
            throw new IllegalArgumentException(
                    "a child's name is '%s', but must be lower-case letters, digits and '-'".formatted(name));
        }
        if (classPath.isEmpty()) {
            throw new IllegalArgumentException("%s has an empty class path".formatted(name));
        }
        classPath = List.copyOf(classPath);
        arguments = List.copyOf(arguments);
        systemProperties = Map.copyOf(systemProperties);
    }

    public Child(String name, List<Path> classPath, String mainClass, Jvm jvm) {
        this(name, classPath, mainClass, List.of(), Map.of(), jvm, OnExit.endsTheRun());
    }

    public Child withArguments(String... more) {
        return withArguments(List.of(more));
    }

    public Child withArguments(List<String> more) {
        return new Child(name, classPath, mainClass, concat(arguments, more), systemProperties, jvm, onExit);
    }

    public Child withSystemProperty(String key, String value) {
        var properties = new TreeMap<>(systemProperties);
        properties.put(key, value);
        return new Child(name, classPath, mainClass, arguments, properties, jvm, onExit);
    }

    public Child withJvm(Jvm other) {
        return new Child(name, classPath, mainClass, arguments, systemProperties, other, onExit);
    }

    public Child named(String other) {
        return new Child(other, classPath, mainClass, arguments, systemProperties, jvm, onExit);
    }

    public Child onExit(OnExit other) {
        return new Child(name, classPath, mainClass, arguments, systemProperties, jvm, other);
    }

    private static List<String> concat(List<String> first, List<String> second) {
        return Stream.concat(first.stream(), second.stream()).toList();
    }
}
