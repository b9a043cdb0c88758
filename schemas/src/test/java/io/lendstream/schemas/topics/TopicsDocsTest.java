package io.lendstream.schemas.topics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

final class TopicsDocsTest {
    @Test
    void thePageIsAsTheCatalogueSays() {
        new GeneratedPage("topics.md").mustBe(TopicsPage.text());
    }

    @Test
    void everyLinkLeadsToASectionOfItsOwn() {
        String page = TopicsPage.text();
        List<String> sections = new ArrayList<>();
        for (Matcher heading = Pattern.compile("(?m)^#+ (.*)$").matcher(page); heading.find(); ) {
            sections.add(heading.group(1).toLowerCase(Locale.ROOT));
        }

        assertThat(sections).doesNotHaveDuplicates();
        for (Matcher link = Pattern.compile("\\(#([^)]*)\\)").matcher(page); link.find(); ) {
            assertThat(sections).contains(link.group(1));
        }
    }
}
