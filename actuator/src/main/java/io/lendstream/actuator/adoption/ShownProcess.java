package io.lendstream.actuator.adoption;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A command line for people: its program and its script. Other arguments may hold secrets. */
final class ShownProcess {
    static final int LONGEST = 120;

    private static final String CUT = "...";
    /** Options of Python that have no value, or whose value is a module. */
    private static final Set<String> HARMLESS = Set.of("-m", "-u", "-O", "-B", "-s", "-S", "-I", "-E");

    private ShownProcess() {}

    /** The program, and the first argument that is no option, unless it could be the value of an option. */
    static String of(List<String> arguments) {
        List<String> words = arguments.stream()
                .flatMap(argument -> Arrays.stream(argument.split(" ", -1))) // a title is a single argument
                .filter(word -> !word.isEmpty())
                .toList();
        if (words.isEmpty()) {
            return "";
        }
        String shown = words.get(0) + script(words).map(word -> " " + word).orElse("");
        String printable = shown.replaceAll("[^\\x20-\\x7e]", "?");
        return printable.length() <= LONGEST ? printable : printable.substring(0, LONGEST - CUT.length()) + CUT;
    }

    /** A variable before a program, and an address with a password in it, are none. */
    private static Optional<String> script(List<String> words) {
        return words.stream()
                .skip(1)
                .dropWhile(HARMLESS::contains)
                .findFirst()
                .filter(word -> !word.startsWith("-") && word.indexOf('=') < 0 && !word.contains("://"));
    }
}
