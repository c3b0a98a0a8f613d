-- The HTML of a plain message is its content in a paragraph, which is not stored twice. Earlier messages keep theirs.
ALTER TABLE message RENAME COLUMN rendered_content TO html;
ALTER TABLE message ADD COLUMN rendered_content TEXT GENERATED ALWAYS AS (iif(html = '=', '<p>' || content || '</p>', html)) VIRTUAL;
