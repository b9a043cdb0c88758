package io.lendstream.schemas.golden;

import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.core.util.Separators;

/** JSON on one line with spaces after colons and commas, as people write it. */
final class OneLine extends DefaultPrettyPrinter {
    OneLine() {
        super(Separators.createDefaultInstance()
                .withRootSeparator("")
                .withObjectFieldValueSpacing(Separators.Spacing.AFTER)
                .withObjectEmptySeparator("")
                .withArrayEmptySeparator("")
                .withObjectEntrySpacing(Separators.Spacing.AFTER)
                .withArrayValueSpacing(Separators.Spacing.AFTER));
        indentObjectsWith(NopIndenter.instance);
        indentArraysWith(NopIndenter.instance);
    }

    private OneLine(OneLine base) {
        super(base);
    }

    @Override
    public DefaultPrettyPrinter createInstance() {
        return new OneLine(this);
    }
}
