package io.lendstream.core.seeds;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test that runs for many seeds, on one instance of its class. The method has one parameter for the seed: a
 * {@code long}, a {@link Random} or {@link RandomValues}. The test ends at the first seed that fails, and its message
 * names that seed.
 *
 * <p>The seeds follow from the names of class and method, so every build runs the same ones. More seeds are the same
 * ones and further ones. Two system properties change which seeds run:
 *
 * <ul>
 *   <li>{@code -Dseeds.only=N}: only the seed N.
 *   <li>{@code -Dseeds.count=N}: N seeds for each test that gives no number, and at least N for each test that gives
 *       one.
 * </ul>
 */
@Test
@ExtendWith(SeedsExtension.class)
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Seeds {
    /** How many seeds; 1,000 where none is given. */
    int value() default SeedsExtension.NOT_GIVEN;
}
