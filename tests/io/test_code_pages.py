"""Words of many languages in the code page in which old programs save them."""

import pytest

from bilex.io.code_pages import LETTERS, code_page

WORDS = {
    "cp1252": {
        "Catalan": "això ós gràcies país llengües açò mòdul camí",
        "Danish": "øl æble rød grøn blå ærlig får søster",
        "Dutch": "België ideeën coöperatie één reünie",
        "Estonian": "õun öö äike üks sõber šokolaad",
        "Finnish": "äiti isä hyvä yö pöytä sää Åbo šakki",
        "French": "élève œuf crème glacée Noël garçon où île hôtel août été père mère forêt",
        "German": "Straße größer Mädchen Tür Öl schön Fuß",
        "Icelandic": "þú það ég maður íslenska ö ár æfa ýmis sól",
        "Irish": "Éire lá bán mór fáilte",
        "Italian": "città perché è più virtù così però università lunedì",
        "Norwegian": "på være får blåbær å øye",
        "Portuguese": "coração mãe pão não é você avô avó irmã lições água órgão",
        "Spanish": "niño corazón árbol útil según camión pingüino año",
        "Swedish": "öl är på för kött åka älska",
        "Italian and Danish": "città by perché hvorfor più mere così så rød rosso blå blu øl birra æble mela",
        "Portuguese and French": "coração cœur pão pain mãe mère não lições leçons forêt floresta",
        "capitals": "ÉLÈVE ÊTRE ÇA FORÊT",
        "one word": "crème",
    },
    "cp1250": {
        "Croatian": "čovjek žena kuća šuma đak noć riječ ćevap",
        "Czech": "český řeka žlutý dům člověk píseň kůň tři město příští říše",
        "Czech and German": "řeka Fluss žlutý gelb dům Haus černý schwarz zelený grün krásný schön třída Straße",
        "Hungarian": "nő fő ős könyv tűz víz idő szőlő hűtő gyűrű három",
        "Hungarian and German": "nő Frau tűz Feuer idő Zeit zöld grün szép schön király König erős stark",
        "Polish": "łódź żółty książka dziękuję ćma słońce",
        "Romanian": "ţară fată pâine în şi mâine ştiinţă",
        "Slovak": "človek dieťa kôň ľudia žltý rieka čas vôňa mäso ťava",
        "Slovenian": "človek žena šola čas miška",
    },
    "cp1254": {
        "Turkish": "ağaç şeker ışık çocuk göz İstanbul güneş kız yıl değil",
        "Turkish and German": "ağaç Baum şeker Zucker ışık Licht kız Mädchen yeşil grün güzel schön",
    },
    "cp1257": {
        "Latvian": "ābols suns māja kaķis zivs ūdens četri šķiņķis",
        "Lithuanian": "ąžuolas šuo kėdė ūkis žuvėdra ėjo",
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("encoding", "words"), [(name, text) for name, all_ in WORDS.items() for text in all_.values()]
)
def test_words_in_their_code_page(encoding, words):
    content = words.replace(" ", "\n").encode(encoding)
    assert content.decode(code_page(content)) == content.decode(encoding)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "дом собака кошка человек"),
        ("cp1251", "дом"),
        ("koi8-r", "дом собака кошка человек"),
        ("cp1253", "σπίτι σκύλος άνθρωπος"),
        ("cp1255", "בית ספר מים אור"),
        ("cp1256", "بيت كتاب ماء شمس"),
        ("shift_jis", "日本語 学校 先生 電車"),
        ("gbk", "学校 老师 火车"),
        ("big5", "學校 老師 火車"),
        ("euc-kr", "학교 선생님 기차"),
    ],
)
def test_other_scripts_are_none_of_these(encoding, text):
    assert code_page(text.replace(" ", ";x\n").encode(encoding)) is None


def test_letters_are_of_their_code_page_and_listed_once():
    for encoding, languages in LETTERS.items():
        for language, letters in languages.items():
            assert len(letters.encode(encoding)) == len({*letters}), language
