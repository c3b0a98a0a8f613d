-- Skeletons of names have no small marks any more, so they are made again.
DELETE FROM name_skeleton;
INSERT INTO name_skeleton SELECT 'user', 0, skeleton(full_name), user_id FROM user;
INSERT INTO name_skeleton SELECT 'user', 1, folded_skeleton(full_name), user_id FROM user;
INSERT INTO name_skeleton SELECT 'email', 1, folded_skeleton(delivery_email), user_id FROM user;
INSERT INTO name_skeleton SELECT 'stream', 0, skeleton(name), stream_id FROM stream;
INSERT INTO name_skeleton SELECT 'stream', 1, folded_skeleton(name), stream_id FROM stream;
INSERT INTO name_skeleton SELECT 'user_group', 0, skeleton(name), id FROM user_group WHERE kind = 'named';
INSERT INTO name_skeleton SELECT 'user_group', 1, folded_skeleton(name), id FROM user_group WHERE kind = 'named';
