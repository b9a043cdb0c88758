package io.lendstream.launcher.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** Circles of classes: sets in which each class depends on each other one, directly or not (Tarjan 1972). */
final class ClassCircles {
    private final Map<String, SortedSet<String>> uses = new TreeMap<>();
    private final Map<String, Integer> indices = new HashMap<>();
    private final Map<String, Integer> lows = new HashMap<>();
    private final Deque<String> open = new ArrayDeque<>();
    private final List<SortedSet<String>> circles = new ArrayList<>();

    private ClassCircles() {}

    /** The circles of more than one class, of which nested classes are a part. */
    static List<SortedSet<String>> of(JavaClasses classes, String base) {
        var found = new ClassCircles();
        for (JavaClass type : classes) {
            SortedSet<String> used = found.uses.computeIfAbsent(outermost(type), any -> new TreeSet<>());
            used.addAll(type.getDirectDependenciesFromSelf().stream()
                    .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                    .filter(target -> target.getName().startsWith(base))
                    .map(ClassCircles::outermost)
                    .toList());
        }
        for (String type : Set.copyOf(found.uses.keySet())) {
            if (!found.indices.containsKey(type)) {
                found.visit(type);
            }
        }
        return found.circles;
    }

    private static String outermost(JavaClass type) {
        String name = type.getName();
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    private void visit(String type) {
        indices.put(type, indices.size());
        lows.put(type, indices.get(type));
        open.push(type);
        for (String used : uses.getOrDefault(type, new TreeSet<>())) {
            if (!indices.containsKey(used)) {
                visit(used);
                lows.merge(type, lows.get(used), Math::min);
            } else if (open.contains(used)) {
                lows.merge(type, indices.get(used), Math::min);
            }
        }
        if (lows.get(type).equals(indices.get(type))) {
            SortedSet<String> circle = new TreeSet<>();
            String last;
            do {
                last = open.pop();
                circle.add(last);
            } while (!last.equals(type));
            if (circle.size() > 1) {
                circles.add(circle);
            }
        }
    }
}
